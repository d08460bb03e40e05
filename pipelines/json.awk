# json.awk - a text as a string of JSON, for scripts behind another -f
function string(text) {
	gsub(/[\001-\037]/, " ", text)
	gsub(/[\\"]/, "\\\\&", text)
	return "\"" text "\""
}
