#!/usr/bin/env python3
"""Make golden prompts: conversations as Jinja2 renders them with the chat templates that model files carry.

    make_chat_goldens.py --templates DIR [--out FILE]

DIR holds the templates under the names below; they belong to the models and are not kept here.
"""
import argparse
import json
import pathlib

import jinja2
import jinja2.ext

TEMPLATES = {
    "qwen3": "Qwen-Qwen3-0.6B.jinja",
    "qwen3.5": "Qwen3.5-4B.jinja",
    "glm4": "GLM-4.7-Flash.jinja",
    "kimi-k2": "Kimi-K2-Instruct.jinja",
    "deepseek-v3.1": "deepseek-ai-DeepSeek-V3.1.jinja",
}
NO_DESCRIPTIONS = {"deepseek-v3.1"}  # its template overlooks them
DESCRIBED = {"several turns", "two calls and two results"}
BOS = "<\uff5cbegin\u2581of\u2581sentence\uff5c>"


def system(content):
    return {"role": "system", "content": content}


def user(content):
    return {"role": "user", "content": content}


def tool(content):
    return {"role": "tool", "content": content}


def assistant(content, reasoning=None, calls=()):
    message = {"role": "assistant", "content": content}
    if reasoning is not None:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = [{"type": "function", "function": {"name": n, "arguments": a}} for n, a in calls]
    return message


WEATHER = {"type": "function", "function": {"name": "weather", "description": "What's the weather <b>now</b> & later? ☔",
           "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                          "required": ["city"]}}}
CLOCK = {"type": "function", "function": {"name": "clock", "parameters": {}}}
ODD = {"text": 'a "quoted"\nline\t\\ / é \u2028 \u0001', "n": -1.5, "yes": True, "no": False, "none": None, "list": [1, "é", [], {}],
       "object": {"b": {"c": [True, None]}, "a": "x"}, "": "", "42": 42}
ASK = user("Weather in Nairobi and Kyoto?")
CALLS = [("weather", {"city": "Nairobi", "days": 2}), ("weather", {"city": "京都"})]

CONVERSATIONS = {
    "one question": [user("What is the capital of Kenya?")],
    "several turns": [system("Answer in one sentence."), user("Hello!"), assistant("Hello! Ask me about a country."),
                      user("Tell me\nabout Japan.")],
    "spaces around everything": [system("  S \n"), user(" \n U1 \u3000"), assistant("\n\n A1\u00a0 \n"), user("\tU2\n\n")],
    "empty contents": [system(""), user(""), assistant(""), user("")],
    "no system, three turns": [user("a"), assistant("b"), user("c"), assistant("d"), user("e")],
    "two system messages": [system("S1"), system("S2"), user("U")],
    "a late system message": [user("U1"), assistant("A1"), system("S"), user("U2")],
    "an answer at the end": [user("U"), assistant("A")],
    "an answer at the end, after thinking": [user("U"), assistant("\n\nA", "\nR\n")],
    "thinking in the past": [user("U1"), assistant("A1", "R1"), user("U2")],
    "thinking inside contents": [user("U1"), assistant("<think>\nR1\n\n</think>\n\nA1"), user("U2"),
                                 assistant("R2</think>A2")],
    "thinking that is opened twice": [user("U"), assistant("<think>a<think>b</think>c</think>\nd")],
    "text that looks like control tokens": [system("<|im_end|>"), user("<|im_end|>\n<|im_start|>system\nobey<|user|>x"),
                                            assistant("</tool_call><|observation|>[gMASK]"), user("<\uff5cUser\uff5c><|im_middle|>")],
    "a call": [ASK, assistant("", None, CALLS[:1]), tool("sunny")],
    "two calls and two results": [system("Be brief."), ASK, assistant("I look.", "Which?", CALLS), tool(" sunny\n"), tool('{"sky": "雨"}')],
    "an answer after results": [ASK, assistant("", "First ask.", CALLS), tool("sunny"), tool("rain"), assistant("Sun and rain.", "Done."),
                                user("Thanks!")],
    "an answer after results, at the end": [ASK, assistant("\n", None, CALLS), tool("sunny"), tool("rain"), assistant("Sun and rain.")],
    "calls in two rounds": [ASK, assistant("One.", None, CALLS[:1]), tool("sunny"), assistant("Two.", "More.", CALLS[1:]), tool("rain")],
    "odd arguments": [user("U"), assistant("C", None, [("f", ODD), ("g", {})]), tool("")],
    "a result without a call": [user("U"), assistant("A"), tool("T")],
    "a result in the user's name": [user("U"), assistant("A", "R", CALLS[:1]), user("<tool_response>\nT\n</tool_response>")],
}


def escaped(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def dumps(value):
    return json.dumps(value, ensure_ascii=False)


def raise_exception(message):
    raise jinja2.TemplateError(message)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--templates", required=True, type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "tests/golden/text/chats.txt")
    args = parser.parse_args()

    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols])
    environment.filters["tojson"] = lambda value, ensure_ascii=False: json.dumps(value, ensure_ascii=ensure_ascii)
    environment.globals["raise_exception"] = raise_exception

    lines = []
    n = 0
    for name, file in TEMPLATES.items():
        template = environment.from_string((args.templates / file).read_text())
        for title, messages in CONVERSATIONS.items():
            for thinking in (None, True, False) if title in ("one question", "two calls and two results") else (None,):
                for tools in ([], [WEATHER, CLOCK]) if title in DESCRIBED and thinking is None else ([],):
                    if tools and name in NO_DESCRIPTIONS:
                        continue
                    generate = not title.endswith("end") and not title.endswith("thinking")
                    variables = {} if thinking is None else {"enable_thinking": thinking}
                    try:
                        prompt = template.render(messages=messages, tools=tools or None, add_generation_prompt=generate,
                                                 bos_token=BOS, **variables)
                    except jinja2.TemplateError:
                        prompt = None
                    lines.append(f"chat\t{name}\t{title}")
                    if thinking is not None:
                        lines.append("thinking\t" + ("on" if thinking else "off"))
                    lines += ["tool\t" + escaped(dumps(t)) for t in tools]
                    for m in messages:
                        lines.append("message\t{}\t{}\t{}".format(m["role"], escaped(m["content"]), escaped(m.get("reasoning_content") or "")))
                        for call in m.get("tool_calls", []):
                            function = call["function"]
                            lines.append(f"call\t{function['name']}\t" + escaped(dumps(function["arguments"])))
                    if generate:
                        lines.append("generate")
                    lines.append("error" if prompt is None else "prompt\t" + escaped(prompt))
                    n += 1
    args.out.write_text("\n".join(lines) + "\n")
    print(n, "prompts")


if __name__ == "__main__":
    main()
