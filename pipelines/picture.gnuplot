# picture.gnuplot - common style of pictures: 800 pixels wide, plain text, six colours that the colour-blind can distinguish
# Scripts beside it load it first; a script says how high its picture is: eval picture(380)
picture(height) = sprintf("set terminal svg size 800, %d font 'sans-serif,13' noenhanced background rgb 'white'", height)
# Okabe and Ito's colours, ordered by difference in brightness; black, yellow and grey have other uses
set linetype 1 linecolor rgb "#0072b2" linewidth 1.5 pointtype 7
set linetype 2 linecolor rgb "#e69f00" linewidth 1.5 pointtype 5
set linetype 3 linecolor rgb "#009e73" linewidth 1.5 pointtype 9
set linetype 4 linecolor rgb "#cc79a7" linewidth 1.5 pointtype 11
set linetype 5 linecolor rgb "#56b4e9" linewidth 1.5 pointtype 13
set linetype 6 linecolor rgb "#d55e00" linewidth 1.5 pointtype 4
SERIES = 6
# the line type of a series
hue(n) = (n - 1) % SERIES + 1
grey = "#b0b0b0"
set datafile separator tab
set datafile missing NaN
# ticks point outwards
set border 3 linecolor rgb "#555555"
set tics out nomirror
set grid ytics back linetype 1 linewidth 0.7 linecolor rgb "#dddddd"
set key outside top center horizontal reverse Left samplen 1.5 width 1
set style fill solid 1 noborder
# The different values, but the empty one, of an expression of awk in a table's lines, in quotes, as word() and words() take them.
distinct(file, value) = system("awk -F'\\t' 'FNR > 1 && (v = " . value . ") != \"\" && !seen[v]++ { gsub(/\"/, \" \", v); printf \"\\\"%s\\\" \", v }' '" . file . "'")
# Where a name stands in such a list, from 1; 0: it is not there.
place_in(list, name) = sum [i=1:words(list)] (word(list, i) eq name ? i : 0)
least(a, b) = a < b ? a : b
# The number of panels for so many series, at most SERIES each; the series of a panel, as even as can be: first and last.
panels_of(count) = (count + SERIES - 1) / SERIES
per_panel(count) = (count + panels_of(count) - 1) / panels_of(count)
first_of(panel, count) = (panel - 1) * per_panel(count) + 1
last_of(panel, count) = least(panel * per_panel(count), count)
# A step between ticks, 1, 2 or 5 times a power of ten, for about so many of them
power(rough) = 10 ** floor(log10(rough))
tick_step(range, count) = (rough = 1.1 * range / count, p10 = power(rough), rough > 5 * p10 ? 10 * p10 : rough > 2 * p10 ? 5 * p10 : rough > p10 ? 2 * p10 : p10)
