"""The words in which people and programs say how something ended, well or badly, in several languages.

The lists hold stems, not phrases that one answer had: they may shrink, and grow only by a language.
"""

from __future__ import annotations

import re

_IGNORE = re.IGNORECASE
# From here on, scripts without blanks, whose words have no borders.
_FIRST_UNSPACED = "\u3000"


def _stems(*lists: str) -> str:
    """Return a pattern of what begins with one of these; in scripts without blanks they may stand anywhere."""
    found = [stem for stems in lists for stem in stems.split()]
    spaced = "|".join(stem for stem in found if stem[0] < _FIRST_UNSPACED)
    return "|".join([*(stem for stem in found if stem[0] >= _FIRST_UNSPACED), rf"\b(?:{spaced})"])


_FAULT = _stems(
    r"(?:errors?|failures?|failed|failing|fails?|problems?|issues?|faults?|exceptions?|findings?|warnings?|troubles?"
    "|red|complaints?|concerns?|regressions?|worries|actions?|attention|doubts?|breakages?|hitch(?:es)?)\\b",
    "fehler problem warnung erreur échec échou problème avertissement error fall(?:o|ó|a) problema advertencia",
    "errore fallit erro\\b erros\\b falha fout(?:en)?\\b mislukt błęd błąd ошиб сбо проблем hata sorun",
    "错误 失败 异常 问题 报错 錯誤 失敗 異常 問題 エラー 失敗 問題 오류 실패 에러 문제",
)
_DENIES = (
    r"(?:no|zero|0|without(?: any| an?)?|free of|not a single|never|none|nothing|didn't|did not|kein\w*|ohne|null"
    r"|aucune?|sans|pas d[e']|zéro|ningun[oa]?|ningún|sin|cero|nessun[oa]?|senza|nenhuma?|sem|geen|zonder"
    r"|żadn\w+|bez|без|ни)"
)
# What may stand between "none" and "failed" without being what is missing: "no such file" is a fault.
_BETWEEN = (
    r"(?:of|in|the|them|these|those|any|all|a|an|single|one|\d+|tests?|checks?|suites?|cases?|runs?|builds?|jobs?|steps?"
    r"|der|die|das|den|des|du|de|la|le|les|el|los|las|have|has|had|were|was|been|being|sind|wurden?|est|a|ont)"
)
# What is left of an answer without these says what it admits.
DENIED = re.compile(
    rf"\b{_DENIES}\s+(?:(?:\w+\s+){{0,2}}?|(?:{_BETWEEN}\s+){{0,6}}?)(?:{_FAULT})\w*"
    rf"|(?:{_FAULT})\w{{0,20}}\s*[:=：]?\s*\b0\b(?![.,]?\d)|(?:{_FAULT})\w{{0,20}}\s*[:=]\s*(?:none|null|nil)\b"
    r"|(?:没有|沒有|[无無零未])(?:[发發]现|[发發]生|出现)?(?:任何|一个)?(?:测试)?(?:错误|失败|异常|问题|报错|錯誤|失敗|異常|問題)"
    r"|(?:エラー|失敗|問題|警告)(?:は|も|が)?(?:なし|(?:あり|起き|発生し|見つかり)ません(?:でした)?|な(?:い|かった)|無し)"
    r"|(?:오류|실패|에러|문제)(?:[가는도이])?\s*(?:없\w+|발생하지 않\w+)"
    r"|\b(?:ошибок|сбоев|проблем)\s+(?:\w+\s+)?(?:нет|не\s\w+)|\bhata (?:yok|bulunmadı)"
    r"|\b(?:fehlerfrei|fehlerlos|error-free|nothing (?:\w+ ){0,3}(?:wrong|out of the ordinary))\b"
    r"|\bno(?:thing)? (?:need|reason|cause|(?:longer|more|later) than)\b"
    r"|\bexit(?:ed|s)? (?:normally|cleanly|fine|ok|gracefully)\b"
    r"|\b(?:exit(?:ed|s)?|return(?:ed)?|rc|status|code|код|código)\b[^.\d\n]{0,24}?\b0\b(?![.,]?\d)",
    _IGNORE,
)
# Of each language: what denies, what may stand between it and the fault that it denies, and faults as verbs say them.
_NEGATORS = (
    r"(?:n[o']t|\w{1,12}n't|kein\w*|nichts?|nicht|niemals|rien|aucune?|pas|jamais|non|nessun[oa]?|niente|nulla|n[ãa]o|nada"
    r"|nenhuma?|no|ning[uú]n[oa]?|niets?|niks|geen|żad\w+|nic|nie|ни|не|нет|никак\w+|ничего|none|nothing|never|zero|0)"
)
_NEUTRAL = (
    rf"(?:{_BETWEEN}|is|are|has|did|do|does|be|seen|found|reported|there|which|that|single|even|packages?|modules?|files?"
    r"|ein(?:e[rsmn]?|zig\w*|zeln\w*)?|test\w*|prüfung\w*|paket\w*|war(?:en)?|ist|hat|haben|schl[uä]g\w*|von|ihnen|gab|es"
    r"|traten|meldet\w*|als|dabei|n|d|l|une?|seule?|en|ont|sont|été|ne|y|il|qui|paquets?|pruebas?|ha|han|hubo|hay|se|una?"
    r"|sol[ao]|paquetes?|prov[ae]|dei|degli|è|ci|sono|stat[oaie]|pacchett[oi]|dos|das|h[áa]|houve|foi|foram|uma?|pacotes?"
    r"|enkele?|het|zijn|werd(?:en)?|er|van|pakket\w*|się|z|ma|był[ao]?|jest|pakiet\w*|[\w-]{0,60}[_./][\w./-]{0,99}|zakończył\w*|один|одна|одного|из"
    r"|тест\w*|не|был[аои]?|провер\w*|пакет\w*|в|nie)"
)
_FAULTY = _stems(
    r"(?:fail(?:s|ed|ing|ures?)?|crash(?:ed|es)?|errors?|errored|aborted|timed\sout|timeouts?|broke|broken|hung|panic\w*"
    r"|problems?|issues?|faults?|exceptions?|warnings?|red)\b",
    r"fehl(?:er\w*|(?:ge)?schl\w+)?\b scheiter gescheitert durchgefallen abgebrochen rot\b échou échec erreur problème",
    r"fall(?:o|ó|a|aron|ido|os|an)\b error fallit errore falh erros?\b mislukt faalde gefaald fout błęd błąd zawi[óo]d",
    r"powi[óo]d упал упавш провал сбо сбой ошиб",
)
_FAULTY_UNSPACED = "失败|失敗|错误|錯誤|异常|異常|问题|問題|报错|未通过|不通过|エラー|落ち|不合格"
_NEUTRAL_UNSPACED = (
    "(?:[发發]现|[发發]生|出现|存在|检测到|任何|一[个個项]|个|個|项|条|测试|測試|用例|编译|构建|步骤|检查|包|的|有|是)"
)
_LIST_OR = rf"(?:(?:\s*,\s*|\s+)(?:{_FAULTY}))*\s*,?\s+(?:or|nor|oder|ou|ni|of|lub|или|e|o)\s+(?:{_FAULTY})\w*"
NO_FAILURE = re.compile(
    rf"\b{_NEGATORS}[\s'’]+(?:{_NEUTRAL}[\s'’]+){{0,6}}?(?:{_FAULTY})\w*(?:{_LIST_OR})?"
    rf"|(?:没有|沒有|[无無零未]|\b0\s*)(?:{_NEUTRAL_UNSPACED}\s*){{0,6}}(?:{_FAULTY_UNSPACED})"
    rf"|(?:{_FAULTY_UNSPACED})(?:{_NEUTRAL_UNSPACED}){{0,3}}\s?[:：]\s?(?:[无無零0]|没有)(?![\w])"
    rf"|(?:{_FAULTY_UNSPACED})(?:した|して|た|ち|テスト|ケース|もの|パッケージ|件|出て|[いはもがを]){{0,6}}"
    r"(?:ありません(?:でした)?|ません(?:でした)?|な(?:い|し|かった)|無し|ゼロ)"
    r"|(?:실패|오류|에러|문제)(?:한|하는|했던|된)?\s*(?:테스트|검사|케이스|항목|패키지)?\s*[가는도이은]?\s*"
    r"(?:없\w*|(?:발생)?하지\s*않\w*|되지\s*않\w*)"
    r"|\b(?:ошибок|сбоев|проблем|упавших|провалившихся)\s+(?:(?:в|тест\w*|пакет\w*)\s+){0,3}(?:нет\b|не\s\w+)"
    # What is over is none any more.
    rf"|\b(?:{_FAULTY})\w*\s+(?:{_NEUTRAL}\s+|all\s+|now\s+){{0,5}}?"
    r"(?:fixed|resolved|gone|repaired|pass(?:es|ing)?|behoben|corrig\w+|résolu\w*|resuelt\w+|risolt\w+|исправлен\w*)\b"
    r"|\bnothing (?:to (?:report|fix|worry)|stands out|unusual|of note)\b"
    rf"|(?:{DENIED.pattern})",
    _IGNORE,
)
_OF = r"(?:/|out of|of|von|de|sur|su|из|van|z)"
FAILURE = re.compile(
    r"fail|error|exception|fatal|panic|crash|abort|denied|refused|reject|killed|broken?\b|invalid|unable|conflict|warn"
    r"|time(?:d )?out|missing|no such|cannot|n't\b|unsuccess|violat|mismatch|undefined|unreachable|exit|traceback"
    r"|\bnot?\b|\bnone\b|\bE\d|[✗×✘❌🔴❗⚠]|\b[45]\d\d\b"
    r"|\bbut (?:for )?(?:the )?(?:\d|one\b|two\b|three\b|`|\w*[_./:]\w)"
    r"|\b(?:except|apart from|aside from|other than|save for|all but|rest|wrong|stopped|red)\b"
    rf"|(?<![\w./])(\d+)\s?{_OF}\s?(?!\1\b)\d+(?![\w./])|"
    + _stems(
        r"""
        fehl scheiter gescheitert abgebrochen abbruch abgestürzt absturz nicht\b kein verweiger ungültig kaputt
        zeitüber außer\b bis\sauf rot\b échou échec erreur impossible introuvable refus pas\b manqu invalide
        sauf\b rouge plant avertiss interromp fall(?:[oóa]|aron|ido|an)\w* imposible deneg rechaz falta excepto
        salvo menos inválid rojo non\b fallit errore impossibile manca tranne negat falh erro não\b exceto negad
        ausente mislukt gefaald fout niet\b geen\b ontbreek behalve nie\b nie(?:powodz|uda) błąd błęd brak
        oprócz ошиб не\b нет\b сбо упал провал отказ кроме отсутств неуда предупрежд невозможн hata\w* başarısız
        değil yok\b فشل خطأ لم thất\sbại lỗi không trừ विफल असफल त्रुटि नहीं selh chyb kromě ne\b misslyck fel
        utom inte\b mislyk fejl feil undtag unntatt ikke\b epäonn virhe paitsi ei\b απέτυχ αποτυχ σφάλμα εκτός
        δεν נכשל שגיאה חוץ מלבד לא sikertelen hib kivéve nem\b eșu eroare erori nu\b excepția помил крім впа
        gagal kesalahan kecuali tidak 失败 失敗 错误 錯誤 异常 異常 未 不 没 沒 无法 無 缺少 拒绝 崩溃 超时 除
        警告 中止 终止 以外 エラー 例外 ない なかった ません できな 拒否 中断 落ち 실패 오류 에러 예외 않 없 못
        거부 경고 제외 중단
        """
    ),
    _IGNORE,
)
_SUBJECT = (
    r"(?:everything|build|tests?|checks?|compilation|installation|run|suite|jobs?|pipeline|deploy(?:ment)?|command|it|they"
    r"|packages?|modules?|migrations?|push|lint(?:ing|er)?|files?|hooks?|steps?|all|every|each|whole|entire)"
)
_WELL = (
    r"(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|green|clean|fine|successful(?:ly)?|well|ok(?:ay)?|good|clear|healthy"
    r"|works?|worked|flawless(?:ly)?|perfect(?:ly)?|(?:clean|smooth)ly)"
)
_ALL_ELSEWHERE = (
    "alles? sämtlich jede tou(?:te?s?|s)\\b tod[oa]s?\\b tutt[eio] tudo\\b wszystk вс[её] весь вся tüm bütün"
    " جميع كل 全部 所有 都 一切 すべて 全て 全 모든 모두 전부"
)
_ALL = _stems(_ALL_ELSEWHERE, "tests?\\b suite build ビルド テスト 测试 構建 构建 빌드 테스트")
_WELL_ELSEWHERE = _stems(
    "bestanden durchgelaufen grün ordnung sauber pass[ée]\\w* vert pas(?:aron|ó|an|ado)\\b verde bien\\b",
    "passat superat passaram passou goed gut\\b groen прош пройд пройш зел[её]н порядке przesz zielon geçti",
    "通过 通過 正常 顺利 合格 パス 통과 정상 passam passan slagen orden ordine",
)
OF_ALL = re.compile(_stems("all\\b every whole entire", _ALL_ELSEWHERE), _IGNORE)
_VERDICT = rf"(?:{_WELL}|{_WELL_ELSEWHERE})"
# Beside the name of what it is said of; a count before it is of something else.
WELL_BEHIND = re.compile(
    r"(?:[^\w.;\n]|\.{2,}){1,8}(?:(?:has|have|is|are|was|were|both|all|now|also|tests?)\s+){0,3}"
    rf"(?:{_WELL}\b|{_WELL_ELSEWHERE})(?!\w*\s(?:only|if|when|once)\b)",
    _IGNORE,
)
WELL_BEFORE = re.compile(rf"\W*{_VERDICT}\W{{1,4}}", _IGNORE)
ENDED_WELL = re.compile(rf"\b{_VERDICT}\b|\bsuccess|[✓✔✅]", _IGNORE)
# Right where the output counts as many.
COUNTED = re.compile(rf"\A\W*\d+\s+(?:tests?\s+)?{_VERDICT}(?: in [\d.]+\s?\w{{1,7}})?\W*\Z", _IGNORE)
_LABEL = r"(?:yes|ja|oui|sí|sì|sim|да|status|state|result|outcome|verdict|alles?|tout|todo|tutto)"
SUCCESS = re.compile(
    rf"\b{_SUBJECT}\b(?:[\s,;]+[\w']+){{0,12}}?[\s,;]+{_WELL}\b|\bsuccess(?:ful(?:ly)?)?\b"
    rf"|\blooks? {_WELL}\b|\b(?:compil|buil|ra?n|link|install|test)\w* (?:\w+ )?(?:cleanly|smoothly|flawlessly|fine)\b"
    r"|\bassert\w*\b[^\n]{0,60}? h[eo]lds?\b|\b(?:good to go|ready to (?:merge|ship|deploy))\b"
    rf"|\A\W*(?:the )?(?:\w+ )?{_SUBJECT} (?:\w+ )?(?:completed?|finished)\W*\Z"
    r"|\b(?:works?|worked|runs?|ran|behaves?|behaved|went|ended|completed|finished)\b(?:\s+\w+){0,3}?"
    r"\s+as (?:expected|intended|planned|designed|it should)\b"
    rf"|\A\W*(?:{_LABEL}\W+)?(?:{_VERDICT}|done|completed?|finished|success|lgtm|fertig|erfolg|готово|listo|terminé)"
    r"\w{0,4}\W*(?:\(.*\)\W*)?\Z"
    rf"|(?:{_ALL})[\s\S]{{0,60}}?(?:{_WELL_ELSEWHERE})|\b100\s?%"
    rf"|(?<![\w./])([1-9]\d*)\s?{_OF}\s?\1(?![\w./])|[✅✔✓☑👍🎉💚🟢👌]|"
    + _stems(
        r"""
        erfolgreich réussi succès éxito exitos riuscit successo sucesso geslaagd powodzeni успе успіш başarıyla
        başarılı نجح thành\scông vượt\squa सफल úspěš prošl godkän lyckad lyckat bestått bestået vellyk läpäis
        wie\serwartet wie\sgewünscht comme\sprévu como\s(?:se\s)?esperad?[oab]\w* come\sprevisto zoals\sverwacht
        как\sожидалось zgodnie\sz\soczekiwaniami beklendiği\sgibi 符合预期 如预期 期待通り 想定通り 예상대로
        onnistu πέρασ επιτυχ עברו הצליח sikeres sikerült trecut reuși lulus berhasil 成功 성공
        """
    ),
    _IGNORE,
)
