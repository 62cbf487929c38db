"""The words in which models talk about themselves, their task and their answer: a few kinds, in several languages.

Points say how much a word of a kind tells. The lists hold kinds of words, not phrases that one answer had: they may
shrink, and grow only by a language.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Signal(NamedTuple):
    """A kind of words, the points that one of them gives, and the most that a sentence gets for them.

    `tells`: facts hardly ever have such words; others only add to those that tell.
    """

    kind: str
    points: int
    most: int
    tells: bool
    pattern: re.Pattern[str]


def _words(*lists: str) -> re.Pattern[str]:
    """Return a pattern of words, which are separated by " | "; scripts without blanks have no borders of words."""
    found = [word for words in lists for word in words.split(" | ")]
    spaced = [word for word in found if word[0] < "\u3000"]
    other = [word for word in found if word[0] >= "\u3000"]
    return re.compile("|".join([*other, rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)"]), re.IGNORECASE)


def _opening(*lists: str) -> re.Pattern[str]:
    """Return a pattern of what a sentence begins with."""
    return re.compile(rf"\A(?:{'|'.join(word for words in lists for word in words.split(' | '))})", re.IGNORECASE)


# "I" that is no numeral, flag or variable.
_I = (
    r"(?<!['\"`/<.-])(?<!type )(?<!phase )(?<!part )(?<!class )(?<!stage )(?-i:I)(?:'(?:ll|m|ve|d))? "
    r"(?!(?:is|are|has|means|does|and|or|in|of|to)\b)[a-z']+"
)
_ASKER = (
    "(?:user|agent|caller|asker|they|instructions?|prompt|task|question|request|query|requirements?|constraints?"
    "|contract|(?:answer |output )?format)"
)
_WANTS = (
    "(?:(?:just|only|really|actually|also|clearly|explicitly|is|are|has|have) )?(?:wants?|asks?|asking|asked|says?|said"
    "|expects?|demands?|specif(?:y|ies|ied)|would like|is looking|looking for)"
)
_MAKES = (
    "(?:return|output|list|give|write|provide|include|exclude|mention|extract|copy|count|keep|omit|skip|summari[sz]e"
    "|report|produce|present|pick|drop|ignore|quote|state|name|check|find|look|see|go|make|identify|use|read|say|put"
    "|add|format|answer|note|cover)"
)

SIGNALS = (
    Signal(
        "self",
        4,
        4,
        True,
        _words(
            _I,
            "let me(?! know) | let's (?-i:[a-z]+) | let us | lemme",
            "my (?:final |own )?(?:answer|response|reply|task|job|goal|plan|thoughts?|reasoning|reading|guess|output)",
            "(?<!自)我(?!的) | 让我 | 咱们 | 私(?=[はがのもにを]) | 僕 | ましょう | てみよう | しよう(?!と)",
            "ich | lass mich | voy a | debo | tengo que | déjame | veamos | necesito | я | мне",
            "je (?:dois|vais|pense|crois|vois) | j'ai",
        ),
    ),
    Signal("we", 3, 3, True, _words("we(?:'(?:ll|re|ve|d))? | our | wir | vamos | nous | мы | нам | давайте | 我们")),
    Signal(
        "doubt",
        4,
        4,
        True,
        re.compile(
            r"(?:\A|[.…,;:(—–] ?| - )(?:(?:but|oh|no|and|ah),? )?"
            r"(?:hmm*|wait|scratch that|hold on|oops|on second thought|no, sorry)\b(?=[,.!…—:;?]| [-–—]|\s*$)"
            r"|\A(?:okay|alright)\b|\A(?:ok|all right)(?=[,.!…])|\blet's see\b"
            r"|等等|等一下|不对|嗯|待って|えっと|うーん"
            r"|\A(?:moment|warte|espera|a ver|attends|attendez|attendons|voyons|подожди(?:те)?|стоп|погоди)(?=[,.!…:])",
            re.IGNORECASE,
        ),
    ),
    Signal(
        "opening",
        3,
        3,
        True,
        _opening(
            r"(?:right|well|so|now|sure|good|great|got it|also gut|gut|bueno|vale|bon|alors|d'accord)[,.!…:](?=\s|$)",
            r"(?:хорошо|так|итак)[,.!…:](?=\s|$) | (?:好的|首先|那么|まず|さて|では|よし)[,，、。]",
        ),
    ),
    Signal(
        "asker",
        3,
        3,
        True,
        _words(
            f"{_ASKER} {_WANTS}",
            "as (?:asked|requested|instructed) | (?:am|i'm|are|we're|being|been) (?:asked|told|supposed)",
            "用户(?:想|要|问|需要|希望|让|说|请求) | ユーザー[はが](?=[^。]{0,30}(?:求|聞|尋|欲|知り|たい|望))",
            "пользовател\\w* (?:хочет|просит|спрашивает|спросил) | задача(?=:| —| -) | вопрос (?:о|про|в)",
            "(?:der|die|das) (?:nutzer|benutzer|user|agent|frage|aufgabe|anweisung) (?:möchte|will|fragt|verlangt)",
            "(?:l'utilisateur|l'agent|la question|la tâche|la consigne) (?:veut|souhaite|demande|attend)",
            "(?:el usuario|el agente|la tarea|la pregunta) (?:quiere|pide|pregunta|solicita)",
        ),
    ),
    Signal(
        "brief",
        4,
        4,
        True,
        _words("(?:the|my|our) (?:task|question|request|instruction|job) is (?:to|about|asking)"),
    ),
    Signal(
        "task",
        1,
        2,
        False,
        _words(
            f"{_ASKER} | asked | wants?",
            "问题 | 要求 | 任务 | 指令 | 質問 | タスク | 指示 | 求め | просят | просит | требует\\w*",
            "gefragt | verlangt | gewünscht | pide | piden | solicita | demandé | demande",
        ),
    ),
    Signal("order", 3, 3, True, _opening(r"(?:needs?|must|should|have to|want)\b(?! (?:is|are|was|were)\b)")),
    Signal(
        "duty",
        1,
        2,
        False,
        _words(
            "(?:should|must|need(?:s|ed)? to|have to|has to|ought to|going to|gonna|supposed to|will|want to|need|shall"
            "|could|can)(?! have)",
            "需要 | 应该 | 必须 | 应当 | 必要 | べき | なければ | ください | нужно | надо | следует | должен | должна",
            "muss | soll | sollte | müssen | hay que | debe | debería | il faut | doit | dois",
        ),
    ),
    Signal(
        "imperative",
        1,
        1,
        False,
        _opening(
            r"(?:just|only|no|not|keep|output|return|answer|format|skip|ignore|check|count|copy|include|exclude|list|give"
            r"|extract|pick)\b"
        ),
    ),
    Signal(
        "answer",
        1,
        3,
        False,
        _words(
            "answers? | answering | respond | reply | response | final (?:answer|output|list) | outputs? | json | yaml",
            "markdown | bullets?",
            "prose | verbatim | fence | sentences? | one line | single line | plain text | quotes | label",
            "explanations? | format(?:ted)? | columns? | keys? | table | header row | words? | array",
            "(?:to|should|must|will|need|just|only|not|and|or|'ll|let's|can|could) (?:also |just |only |then )?"
            f"{_MAKES}",
            "回答 | 输出 | 返回 | 列出 | 格式 | 答案 | 提取 | 出力 | 返す | 抽出 | 形式 | 答え",
            "antwort(?:en)? | ausgeben | auflisten | satz | sätze | zeilen? | responder | respuesta | devolver | lista",
            "frase | línea | formato | réponse | répondre | phrase | ligne | liste",
            "ответ\\w* | вывести | вывод\\w* | строк\\w* | список | предложени\\w*",
        ),
    ),
    Signal(
        "weighing",
        1,
        2,
        False,
        re.compile(
            r"\A(?:so|now|but|however|also|then|thus|therefore|hence|next|first|and|since|because|anyway)\b"
            r"|\b(?:maybe|perhaps|probably|presumably|actually|though|either way|in any case|to be safe|safer|seems"
            r"|looks like|double-check|not sure|i guess|ambiguous|tricky|fine|right\?|enough|that covers"
            r"|that(?:'s| is) (?:it|all|fine))\b"
            r"|, so\b|所以|但是|可能|看来|因此|然后|だから|つまり|かな|だろう|でしょう"
            r"|\b(?:also|vielleicht|wohl|entonces|quizás|tal vez|pero|donc|peut-être|mais|значит|может быть|наверное"
            r"|поэтому)\b",
            re.IGNORECASE,
        ),
    ),
    Signal("question", 2, 2, True, re.compile(r"[?？][\"')\]*]*\s*\Z")),
    Signal(
        "reading",
        2,
        2,
        True,
        _opening(
            r"(?:(?:so|now|okay|first|ok),? )?(?:looking|going|scanning|reading|checking|searching|thinking)"
            r" (?:at|through|over|back|about)\b"
        ),
    ),
)
TELLING = frozenset(signal.kind for signal in SIGNALS if signal.tells)

# A step of a plan.
STEP = re.compile(
    rf"[\s#*]*(?:step )?\d+[.):][ \t]+[*_]*(?:{_MAKES}|identify|locate|compare|parse|understand|review|verify|ensure"
    r"|filter|combine|scan|determine|analy[sz]e|join|compute|sort|confirm)\b",
    re.IGNORECASE,
)
# What stands above thought.
LABEL = re.compile(
    r"(?:my )?(?:analysis|rationale|reasoning|thoughts?|thinking|thought process|chain of thought|scratch ?pad"
    r"|internal monologue|step[- ]by[- ]step(?: reasoning| analysis)?|planning|plan|approach|draft|goal|constraints?"
    r"|(?:self-|final )?check|思考|分析)(?: \d{1,2})?[*_]*[:：][*_]*(?=\s|$)",
    re.IGNORECASE,
)
# What stands above an answer.
ANSWER_LABEL = re.compile(
    r"[ \t]*[#>*_]*[ \t]*(?:(?:so|thus|therefore|hence),? )?"
    r"(?:(?:my |the )?(?:final |correct )?(?:answer|response|result|summary)|final version"
    # Above a line they are labels; within one, keys of the output.
    r"|(?:output|value|solution)(?=[*_]*[:：][*_]*\s*\n)"
    r"|final|antwort|respuesta(?: final)?|réponse(?: finale)?|ответ|回答|答案|最终答案)"
    r"(?: is)?[*_]*[ \t]*[:：](?=[\s*_]|\Z)[*_]*[ \t]?",
    re.IGNORECASE,
)
# Politeness around an answer is a wrapper, no thought.
SMALL_TALK = re.compile(
    r"\b(?:happy|glad) to help|\b(?:i )?hope (?:this|that|it) helps|\blet me know\b|\bfeel free\b|\bwould you like\b"
    r"|\bif you (?:need|have|want|would like) (?:any|more|further|me)\b|\byou(?:'re| are) welcome|\bthank you\b"
    r"|\bis there anything\b|\bhere(?:'s| is| are)\b[^\n]{0,160}:\s*\Z|\A(?:sure|certainly|of course|absolutely)\b",
    re.IGNORECASE,
)
# Of it, words that outputs have by chance.
POLITE_WORDS = frozenset(
    re.findall(
        r"\w+",
        "answer asked need anything else let help helps question questions know like further more details detail "
        "information output summary list table requested wanted looking request please free feel hope glad happy sure "
        "certainly thank thanks welcome",
    )
)
# What somebody says who will not or cannot do what was asked.
REFUSAL = re.compile(
    r"\bas an? (?:ai|artificial|(?:large )?language model)\b|\bi(?: am|'m|’m)? (?:cannot|can['’]?t|can not|won['’]?t"
    r"|unable to|not able to) (?:\w+ )?(?:help|assist|see|access|view|run|open|read|provide|comply|fulfil|answer"
    r"|process|analy[sz]e|browse|execute)\b|\bi (?:do not|don['’]?t) have access\b"
    r"|\b(?:ich kann|kann ich)\b[^.!?\n]{0,60}\bnicht\b[^.!?\n]{0,40}(?:helfen|beantworten|zugreifen)"
    r"|\bje ne (?:peux|suis)[^.!?\n]{0,40}\b(?:aider|répondre|accéder|capable|mesure)"
    r"|\bno (?:puedo|soy capaz)[^.!?\n]{0,40}\b(?:ayudar|responder|acceder|asistir)"
    r"|\bnon (?:posso|sono in grado)[^.!?\n]{0,40}\b(?:aiutar|rispond|acced)"
    r"|\bnão (?:posso|consigo)[^.!?\n]{0,40}\b(?:ajudar|responder|acessar|aceder)"
    r"|\bkan ik\b[^.!?\n]{0,40}\bniet\b[^.!?\n]{0,20}\b(?:help|beantwoord)"
    r"|\bnie mogę[^.!?\n]{0,40}\b(?:pomóc|odpowied)|\bне могу[^.!?\n]{0,40}\b(?:помочь|ответить|выполнить)"
    r"|(?:我|抱歉|对不起|對不起)[^。\n]{0,12}(?:无法|無法|不能)[^。\n]{0,12}(?:帮|幫|协助|協助|提供|回答)"
    r"|(?:申し訳|お手伝い|お答え)[^。\n]{0,30}(?:できません|かねます)|(?:죄송|도와)[^.\n]{0,30}수 없",
    re.IGNORECASE,
)
# What stands in place of an answer where something between the model and us failed.
SERVICE_FAULT = re.compile(
    r"\W*(?:error\W+)?(?:\d{3}\W+)?(?:internal server error|bad gateway|gateway time-?out|too many requests"
    r"|(?:maximum )?(?:context|prompt|input|token)s?(?: \w+){0,2} (?:exceeded|too long)"
    r"|rate limit\w*(?: \w+)? (?:exceeded|reached)|service (?:is )?(?:temporarily )?unavailable"
    r"|(?:the )?(?:server|model) (?:is )?(?:overloaded|busy))\b",
    re.IGNORECASE,
)
