"""What model families write around their answers: role headers, reasoning, calls of tools, channels, boxes, end marks.

One table, as data. Recovery, validation, thought detection and the chat templates read it through
`ctxsift.answers.marks`; a backend that knows its model's special tokens adds them for that model (`Tokens.extended`).
"""

from __future__ import annotations

from typing import NamedTuple

Pair = tuple[str, str]


class TokenFamily(NamedTuple):
    """The marks of one family, letter for letter; white space and case may differ in an answer.

    Attributes:
        name: of the family, and of what shares its marks.
        headers: open the model's own turn.
        others: open the turn of somebody else.
        thought: what opens and closes reasoning.
        calls: what opens and closes a call of a tool, where nobody offered one: no more an answer than reasoning is.
        announced: the same in words, where they are the first of an answer.
        final: begins the answer after reasoning.
        boxes: what stands around the answer itself.
        ends: end a turn, or the text.
        control: any other mark.

    """

    name: str
    headers: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    thought: tuple[Pair, ...] = ()
    calls: tuple[Pair, ...] = ()
    announced: tuple[Pair, ...] = ()
    final: tuple[str, ...] = ()
    boxes: tuple[Pair, ...] = ()
    ends: tuple[str, ...] = ()
    control: tuple[str, ...] = ()

    @property
    def hidden(self) -> tuple[Pair, ...]:
        """What opens and closes what is no answer."""
        return (*self.thought, *self.calls)


_THINK: Pair = ("<think>", "</think>")


def _tags(names: str) -> tuple[Pair, ...]:
    return tuple((f"<{name}>", f"</{name}>") for name in names.split())


FAMILIES = (
    TokenFamily(
        "ChatML (Qwen, Yi, SmolLM, LFM, MiMo)",
        headers=("<|im_start|>assistant\n",),
        others=("<|im_start|>user\n", "<|im_start|>system\n", "<|im_start|>tool\n"),
        thought=(_THINK,),
        ends=("<|im_end|>", "<|endoftext|>"),
        control=("<|im_sep|>", "<|vision_start|>", "<|vision_end|>"),
    ),
    TokenFamily(
        "DeepSeek",
        headers=("<｜Assistant｜>",),
        others=("<｜User｜>",),
        thought=(_THINK,),
        ends=("<｜end▁of▁sentence｜>",),
        calls=(("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),),
        control=("<｜begin▁of▁sentence｜>",),
    ),
    TokenFamily(
        "GLM",
        headers=("<|assistant|>\n",),
        others=("<|user|>\n", "<|system|>\n", "<|observation|>\n"),
        thought=(_THINK,),
        boxes=(("<|begin_of_box|>", "<|end_of_box|>"), ("<answer>", "</answer>")),
        ends=("<|endoftext|>",),
        control=("[gMASK]", "[sMASK]", "<sop>", "<eop>"),
    ),
    TokenFamily(
        "Kimi K2, Kimi-VL",
        headers=("<|im_assistant|>assistant<|im_middle|>",),
        others=("<|im_user|>user<|im_middle|>", "<|im_system|>system<|im_middle|>"),
        thought=(("◁think▷", "◁/think▷"), _THINK),
        ends=("<|im_end|>", "[EOS]", "[EOT]"),
        calls=(("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),),
        control=("<|media_start|>", "<|media_end|>"),
    ),
    TokenFamily(
        "gpt-oss (harmony)",
        headers=("<|start|>assistant<|message|>",),
        others=("<|start|>user<|message|>", "<|start|>system<|message|>", "<|start|>developer<|message|>"),
        # What else stands in a header varies; `_CHANNEL` below reads it.
        thought=(("<|channel|>analysis<|message|>", "<|end|>"), ("<|channel|>commentary<|message|>", "<|end|>")),
        # What is left of the channels where their tokens are not printed.
        announced=(("analysis", "assistantfinal"), ("assistantanalysis", "assistantfinal")),
        final=("<|channel|>final<|message|>", "<|start|>assistant<|channel|>final<|message|>"),
        ends=("<|return|>", "<|end|>", "<|call|>"),
        control=("<|constrain|>json", "<|start|>", "<|message|>", "<|channel|>"),
    ),
    TokenFamily(
        "Gemma",
        headers=("<start_of_turn>model\n",),
        others=("<start_of_turn>user\n",),
        ends=("<end_of_turn>", "<eos>"),
        control=("<bos>", "<pad>", "<unk>", "<unused0>", "<start_of_image>", "<end_of_image>"),
    ),
    TokenFamily(
        "Gemma 4",
        headers=("<|turn>model\n",),
        others=("<|turn>user\n", "<|turn>system\n"),
        thought=(("<|channel>thought\n", "<channel|>"),),
        ends=("<turn|>",),
        calls=(("<|tool_call>", "<tool_call|>"),),
        control=("<|think|>",),
    ),
    TokenFamily(
        "Granite",
        headers=("<|start_of_role|>assistant<|end_of_role|>",),
        others=("<|start_of_role|>user<|end_of_role|>", "<|start_of_role|>system<|end_of_role|>"),
        thought=(_THINK,),
        announced=(("Here is my thought process:", "Here is my response:"),),
        boxes=(("<response>", "</response>"),),
        calls=(("<|tool_call|>", "<|end_of_text|>"),),
        ends=("<|end_of_text|>",),
    ),
    TokenFamily(
        "Phi",
        headers=("<|assistant|>\n", "<|im_start|>assistant<|im_sep|>"),
        others=("<|user|>\n", "<|system|>\n", "<|im_start|>user<|im_sep|>"),
        thought=(_THINK,),
        ends=("<|end|>", "<|im_end|>", "<|endoftext|>"),
    ),
    TokenFamily(
        "Mistral",
        others=("[INST]",),
        thought=(("[THINK]", "[/THINK]"), _THINK),
        calls=(("[TOOL_CALLS]", "</s>"),),
        ends=("</s>",),
        control=("<s>", "[/INST]", "[AVAILABLE_TOOLS]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    ),
    TokenFamily(
        "Llama",
        headers=("<|start_header_id|>assistant<|end_header_id|>\n\n", "<|header_start|>assistant<|header_end|>\n\n"),
        others=("<|start_header_id|>user<|end_header_id|>\n\n", "<|header_start|>user<|header_end|>\n\n"),
        ends=("<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>", "<|end_of_text|>"),
        control=("<|begin_of_text|>", "<|python_tag|>", "<<SYS>>", "<</SYS>>", "<s>", "</s>"),
    ),
    TokenFamily(
        "Nemotron",
        headers=("<SPECIAL_11>Assistant\n", "<extra_id_1>Assistant\n"),
        others=("<SPECIAL_11>User\n", "<SPECIAL_10>System\n", "<extra_id_1>User\n"),
        thought=(_THINK,),
        ends=("<SPECIAL_12>",),
        calls=(("<TOOLCALL>", "</TOOLCALL>"),),
        control=("<SPECIAL_10>", "<SPECIAL_11>", "<extra_id_1>"),
    ),
    TokenFamily(
        "EXAONE",
        headers=("[|assistant|]",),
        others=("[|user|]", "[|system|]", "[|tool|]"),
        thought=(("<thought>", "</thought>"), _THINK),
        ends=("[|endofturn|]",),
        control=("[BOS]",),
    ),
    TokenFamily(
        "MiniMax",
        headers=("]~b]ai\n",),
        others=("]~b]user\n", "]~b]system\n", "]~b]tool\n"),
        thought=(_THINK,),
        ends=("[e~[",),
        calls=(("<minimax:tool_call>", "</minimax:tool_call>"),),
        control=("]~!b[",),
    ),
    TokenFamily(
        "Seed-OSS",
        headers=("<seed:bos>assistant\n",),
        others=("<seed:bos>user\n", "<seed:bos>system\n"),
        thought=(
            ("<seed:think>", "</seed:think>"),
            ("<seed:cot_budget_reflect>", "</seed:cot_budget_reflect>"),
        ),
        ends=("<seed:eos>",),
        calls=(("<seed:tool_call>", "</seed:tool_call>"),),
        control=("<seed:bos>", "<seed:pad>"),
    ),
    TokenFamily(
        "Apertus",
        headers=("<|assistant_start|>",),
        others=("<|user_start|>", "<|system_start|>", "<|developer_start|>"),
        thought=(("<|inner_prefix|>", "<|inner_suffix|>"),),
        ends=("<|assistant_end|>", "</s>"),
        control=("<|user_end|>", "<|system_end|>", "<|tools_prefix|>", "<|tools_suffix|>"),
    ),
    TokenFamily(
        "Ling, Ring",
        headers=("<role>ASSISTANT</role>",),
        others=("<role>HUMAN</role>", "<role>SYSTEM</role>", "<role>OBSERVATION</role>"),
        thought=(_THINK,),
        ends=("<|role_end|>", "<|endoftext|>"),
        control=("<|startoftext|>",),
    ),
    TokenFamily(
        "Solar",
        headers=("<|begin|>assistant<|content|>", "### Assistant:\n"),
        others=("<|begin|>user<|content|>", "<|begin|>system<|content|>", "### User:\n"),
        thought=(("<|begin|>assistant<|think|>", "<|end|>"), ("<|think|>", "<|end|>")),
        final=("<|content|>",),
        ends=("<|end|>", "<|flush|>", "<|calls|>"),
        control=("<|begin|>", "<|tool_calls|>"),
    ),
    TokenFamily(
        "Hunyuan",
        headers=("<｜hy_Assistant｜>", "<|extra_0|>"),
        others=("<｜hy_User｜>", "<｜hy_begin▁of▁sentence｜>"),
        thought=(_THINK, ("<think:opensource>", "</think:opensource>")),
        boxes=(("<answer>", "</answer>"),),
        ends=("<｜hy_place▁holder▁no▁2｜>", "<｜hy_eos｜>", "<|eos|>"),
        control=("<|startoftext|>", "<|extra_4|>", "<｜hy_place▁holder▁no▁8｜>"),
    ),
    TokenFamily(
        "Command R, Command A",
        headers=("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",),
        others=("<|START_OF_TURN_TOKEN|><|USER_TOKEN|>", "<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>"),
        thought=(("<|START_THINKING|>", "<|END_THINKING|>"),),
        boxes=(("<|START_RESPONSE|>", "<|END_RESPONSE|>"), ("<|START_TEXT|>", "<|END_TEXT|>")),
        ends=("<|END_OF_TURN_TOKEN|>",),
        control=("<|START_ACTION|>", "<|END_ACTION|>"),
    ),
    TokenFamily(
        "Kimi K3",
        thought=(("<|open|>think<|sep|>", "<|close|>think<|sep|>"),),
        boxes=(("<|open|>response<|sep|>", "<|close|>response<|sep|>"),),
        ends=("<|close|>message<|sep|>", "<|end_of_msg|>"),
    ),
    TokenFamily(
        "MiniMax M1, M3",
        headers=("<beginning_of_sentence>ai name=assistant\n", "]~b]ai\n"),
        others=("<beginning_of_sentence>user name=user\n",),
        thought=(_THINK, ("<mm:think>", "</mm:think>")),
        ends=("<end_of_sentence>", "[e~["),
    ),
    TokenFamily(
        "Seed-Coder",
        headers=("<[begin▁of▁sentence]>assistant\n",),
        others=("<[begin▁of▁sentence]>user\n",),
        ends=("<[end▁of▁sentence]>",),
    ),
    TokenFamily(
        "ERNIE",
        thought=(_THINK,),
        boxes=(("<response>", "</response>"),),
        ends=("<|end_of_sentence|>", "<|im_end|>", "</s>"),
        control=("<|begin_of_sentence|>",),
    ),
    TokenFamily(
        "Step",
        headers=("<|BOT|>assistant\n",),
        others=("<|BOT|>user\n", "<|BOT|>human\n", "<|BOT|>system\n"),
        thought=(_THINK,),
        ends=("<|EOT|>",),
    ),
    TokenFamily(
        "LongCat",
        headers=("<longcat_assistant>",),
        others=("<longcat_user>", "<longcat_system>"),
        thought=(("<longcat_think>", "</longcat_think>"),),
        ends=("</longcat_s>",),
    ),
    TokenFamily(
        "Apriel",
        headers=("<|begin_assistant|>\n",),
        others=("<|begin_user|>\n", "<|begin_system|>\n"),
        announced=(("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),),
        boxes=(("[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]"),),
        ends=("<|end|>",),
    ),
    TokenFamily(
        "Inkling",
        headers=("<|message_model|>",),
        others=("<|message_user|>", "<|message_system|>"),
        thought=(("<|content_thinking|>", "<|end_message|>"),),
        final=("<|content_text|>",),
        ends=("<|end_message|>", "<|content_model_end_sampling|>"),
    ),
    TokenFamily(
        "Pleias, Steiner, ether0",
        thought=(
            ("<|query_analysis_start|>", "<|query_analysis_end|>"),
            ("<|source_analysis_start|>", "<|source_analysis_end|>"),
            ("<|reasoning_start|>", "<|reasoning_end|>"),
            ("<|think_start|>", "<|think_end|>"),
        ),
        boxes=(("<|answer_start|>", "<|answer_end|>"),),
    ),
    TokenFamily(
        "s1",
        thought=(("<|im_start|>think\n", "<|im_start|>answer\n"),),
        ends=("<|im_end|>",),
    ),
    TokenFamily("Marco-o1", thought=(("<Thought>", "</Thought>"),), boxes=(("<Output>", "</Output>"),)),
    TokenFamily("HuatuoGPT-o1", announced=(("## Thinking", "## Final Response"),)),
    TokenFamily("openPangu", thought=(("[unused16]", "[unused17]"), _THINK)),
    TokenFamily(
        "dots, Jamba, Megrez, GigaChat",
        headers=(
            "<|response|>",
            "<|bom|><|assistant|>",
            "<|role_start|>assistant<|role_end|>",
            "assistant<|role_sep|>",
        ),
        others=("<|userprompt|>", "<|bom|><|user|>", "<|role_start|>user<|role_end|>", "user<|role_sep|>"),
        thought=(_THINK,),
        ends=("<|endofresponse|>", "<|turn_end|>", "<|message_sep|>", "<|endofassistant|>", "<|eom|>"),
    ),
    TokenFamily("HyperCLOVA, StarCoder", ends=("<|endofturn|>", "<|stop|>", "<|eos|>", "<EOT>")),
    TokenFamily(
        "OpenThinker",
        thought=(("<|begin_of_thought|>", "<|end_of_thought|>"),),
        boxes=(("<|begin_of_solution|>", "<|end_of_solution|>"),),
    ),
    TokenFamily(
        "tags in plain letters (many)",
        thought=(
            *_tags("thinking thoughts analysis reasoning planning scratchpad reflection inner_monologue"),
            *_tags("internal_monologue chain_of_thought inner_thought"),
            ("<|thinking|>", "<|/thinking|>"),
            ("<|think|>", "<|/think|>"),
            ("<|thought|>", "<|/thought|>"),
            ("<|reasoning|>", "<|/reasoning|>"),
            ("<|thinking_start|>", "<|thinking_end|>"),
            ("<｜begin▁of▁thinking｜>", "<｜end▁of▁thinking｜>"),
        ),
        calls=_tags("tool_call tool_calls function_call function_calls tool_use"),
        boxes=_tags("final_answer final response result output solution conclusion"),
    ),
)
