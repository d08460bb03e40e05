#include "geometry/stop_words.h"

const char stop_words_english[] =
    /* articles, and words that point or count */
    "a an the this that these those such same other others another one ones some any "
    "all both each either every few less least more most much many neither no none "
    "several enough own else "
    /* pronouns */
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves "
    "he him his himself she her hers herself it its itself they them their theirs "
    "themselves who whom whose which what whatever whichever whoever someone somebody "
    "something anyone anybody anything everyone everybody everything nobody nothing "
    /* verbs that help others */
    "am is are was were be been being do does did doing done have has had having can "
    "could may might must shall should will would ought cannot let lets "
    /* where words stand to each other */
    "about above across after against along among amongst around as at before behind "
    "below beneath beside besides between beyond by down during except for from in "
    "inside into like near of off on onto out outside over per since than through "
    "throughout till to toward towards under until unto up upon via with within "
    "without "
    /* what joins them */
    "and but or nor so yet if unless because although though while whereas whether "
    "then thus hence therefore however "
    /* when, where, how */
    "again ago almost already also always away back ever even far here how just maybe "
    "never not now often once only perhaps quite rather really soon still there too "
    "very well when whenever where wherever why yes "
    /* pieces around an apostrophe */
    "s t d m o re ve ll ain aren couldn didn doesn don hadn hasn haven isn mightn mustn "
    "needn shan shouldn wasn weren won wouldn";
