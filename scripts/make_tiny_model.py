#!/usr/bin/env python3
"""Write a model of random weights in a family that the reference's tools make no small files of.

    make_tiny_model.py FAMILY --out FILE.gguf [--seed N]

FAMILY is one of those below. Weights are float and the vocabulary has 64 tokens without texts; the dimensions are just
large enough for Q8_0 to pack the rows. Needs numpy.
"""
import argparse
import struct

import numpy as np

E, H, KV, D, FF, X, USED, V, LAYERS = 64, 4, 2, 32, 32, 6, 3, 64, 3
RANK, NOPE, ROPE, VALUE = 64, 32, 16, 32  # of latent attention
KEYS, VALUES, STATE, TAPS = 2, 4, 32, 4  # of DeltaNet: heads of keys and of values, their width, the convolution's


class Model:
    """Keys and tensors of a GGUF file, version 3."""

    def __init__(self, architecture, seed):
        self.architecture, self.random = architecture, np.random.default_rng(seed)
        self.keys, self.tensors = [], []
        self.key("general.architecture", architecture, own=False)
        self.key("tokenizer.ggml.model", "no_vocab", own=False)
        for name, value in [("vocab_size", V), ("block_count", LAYERS), ("context_length", 256), ("embedding_length", E),
                            ("attention.layer_norm_rms_epsilon", 1e-5), ("attention.head_count", H),
                            ("attention.head_count_kv", KV), ("expert_count", X), ("expert_used_count", USED)]:
            self.key(name, value)

    def key(self, name, value, own=True):
        """Sets a key, of the architecture's own unless said otherwise; a later value takes an earlier one's place."""
        name = f"{self.architecture}.{name}" if own else name
        self.keys = [k for k in self.keys if k[0] != name] + [(name, value)]

    def tensor(self, name, *dims, spread=None, mean=0.0):
        """Dimensions as the file has them, the contiguous one first."""
        spread = 1.5 / dims[0] ** 0.5 if spread is None else spread
        values = mean + spread * self.random.standard_normal(dims[::-1])
        self.tensors.append((name, dims, values.astype("<f4")))

    def norm(self, name, n):
        self.tensor(name, n, spread=0.1, mean=1.0)

    def begin(self, tied=False):
        self.tensor("token_embd.weight", E, V, spread=1.0)
        self.norm("output_norm.weight", E)
        if not tied:
            self.tensor("output.weight", E, V)

    def attention(self, block, biases="", norms=False, width=D):
        """Grouped queries; `biases` names the projections that have one."""
        for part, rows in [("q", H * width), ("k", KV * width), ("v", KV * width)]:
            self.tensor(f"{block}attn_{part}.weight", E, rows)
        self.tensor(f"{block}attn_output.weight", H * width, E)
        for part, rows in [("q", H * width), ("k", KV * width), ("v", KV * width), ("output", E)]:
            if part in biases.split():
                self.tensor(f"{block}attn_{part}.bias", rows, spread=0.3)
        if norms:
            self.norm(f"{block}attn_q_norm.weight", width)
            self.norm(f"{block}attn_k_norm.weight", width)

    def ffn(self, block, suffix, *experts):
        self.tensor(f"{block}ffn_gate{suffix}.weight", E, FF, *experts)
        self.tensor(f"{block}ffn_up{suffix}.weight", E, FF, *experts)
        self.tensor(f"{block}ffn_down{suffix}.weight", FF, E, *experts)

    def experts(self, block, bias=False):
        self.tensor(f"{block}ffn_gate_inp.weight", E, X, spread=2.0 / E ** 0.5)
        self.ffn(block, "_exps", X)
        if bias:
            self.tensor(f"{block}exp_probs_b.bias", X, spread=0.1)

    def write(self, path):
        def text(s):
            return struct.pack("<Q", len(s.encode())) + s.encode()

        def value(v):
            if isinstance(v, bool):
                return struct.pack("<I?", 7, v)
            if isinstance(v, int):
                return struct.pack("<II", 4, v)
            if isinstance(v, float):
                return struct.pack("<If", 6, v)
            if isinstance(v, str):
                return struct.pack("<I", 8) + text(v)
            return struct.pack("<IIQ", 9, 4, len(v)) + struct.pack(f"<{len(v)}I", *v)

        head = struct.pack("<4sIQQ", b"GGUF", 3, len(self.tensors), len(self.keys))
        head += b"".join(text(k) + value(v) for k, v in self.keys)
        offset = 0
        for name, dims, values in self.tensors:
            head += text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, 0, offset)
            offset += -(-values.nbytes // 32) * 32
        with open(path, "wb") as file:
            file.write(head.ljust(-(-len(head) // 32) * 32, b"\0"))
            for _, _, values in self.tensors:
                file.write(values.tobytes().ljust(-(-values.nbytes // 32) * 32, b"\0"))


def blocks(model, first=0):
    return [(i, f"blk.{i}.") for i in range(first, LAYERS)]


def qwen2moe(seed):
    m = Model("qwen2moe", seed)
    m.key("expert_feed_forward_length", FF)
    m.key("expert_shared_feed_forward_length", FF)
    m.begin()
    for _, b in blocks(m):
        m.norm(b + "attn_norm.weight", E)
        m.attention(b, biases="q k v", width=E // H)
        m.norm(b + "ffn_norm.weight", E)
        m.experts(b)
        m.ffn(b, "_shexp")
        m.tensor(b + "ffn_gate_inp_shexp.weight", E)
    return m


def mixtral(seed):
    m = Model("llama", seed)
    m.key("feed_forward_length", FF)
    m.key("attention.key_length", D)
    m.key("attention.value_length", D)
    m.key("rope.dimension_count", D)
    m.key("rope.freq_base", 1e6)
    m.begin()
    for _, b in blocks(m):
        m.norm(b + "attn_norm.weight", E)
        m.attention(b)
        m.norm(b + "ffn_norm.weight", E)
        m.experts(b)
    return m


def granitemoe(seed):
    m = Model("granitemoe", seed)
    m.key("feed_forward_length", FF)
    m.key("attention.key_length", D)
    m.key("attention.value_length", D)
    m.key("rope.dimension_count", D)
    m.key("expert_shared_feed_forward_length", FF)
    for name, value in [("embedding_scale", 12.0), ("residual_scale", 0.22), ("attention.scale", 0.015625),
                        ("logit_scale", 6.0)]:
        m.key(name, value)
    m.begin(tied=True)
    for _, b in blocks(m):
        m.norm(b + "attn_norm.weight", E)
        m.attention(b)
        m.norm(b + "ffn_norm.weight", E)
        m.experts(b)
        m.ffn(b, "_shexp")
    return m


def deepseek(m, q_rank):
    """What the layouts of deepseek2 have in common, but for the matrices from the latent vector to keys and values."""
    for name, value in [("feed_forward_length", FF), ("expert_feed_forward_length", FF), ("attention.q_lora_rank", q_rank),
                        ("attention.kv_lora_rank", RANK), ("rope.dimension_count", ROPE), ("expert_shared_count", 2),
                        ("leading_dense_block_count", 1)]:
        m.key(name, value)
    m.begin()
    for i, b in blocks(m):
        m.norm(b + "attn_norm.weight", E)
        if q_rank:
            m.tensor(b + "attn_q_a.weight", E, q_rank)
            m.norm(b + "attn_q_a_norm.weight", q_rank)
        m.tensor(b + ("attn_q_b.weight" if q_rank else "attn_q.weight"), q_rank or E, H * (NOPE + ROPE))
        m.tensor(b + "attn_kv_a_mqa.weight", E, RANK + ROPE)
        m.norm(b + "attn_kv_a_norm.weight", RANK)
        m.tensor(b + "attn_output.weight", H * VALUE, E)
        m.norm(b + "ffn_norm.weight", E)
        if i == 0:
            m.ffn(b, "")
        else:
            m.experts(b, bias=q_rank > 0)
            m.tensor(b + "ffn_gate_shexp.weight", E, 2 * FF)
            m.tensor(b + "ffn_up_shexp.weight", E, 2 * FF)
            m.tensor(b + "ffn_down_shexp.weight", 2 * FF, E)


def deepseek_v2(seed):
    """Of before the tensor attn_kv_b was split; softmax without renormalising."""
    m = Model("deepseek2", seed)
    deepseek(m, 0)
    for name, value in [("attention.key_length", NOPE + ROPE), ("attention.value_length", VALUE),
                        ("attention.head_count_kv", H), ("expert_gating_func", 1), ("expert_weights_scale", 1.5)]:
        m.key(name, value)
    for _, b in blocks(m):
        m.tensor(b + "attn_kv_b.weight", RANK, H * (NOPE + VALUE))
    return m


def deepseek_v3(seed):
    """Groups of experts, and positions stretched by YaRN."""
    m = Model("deepseek2", seed)
    deepseek(m, 32)
    for name, value in [("attention.key_length", RANK + ROPE), ("attention.value_length", RANK),
                        ("attention.key_length_mla", NOPE + ROPE), ("attention.value_length_mla", VALUE),
                        ("attention.head_count_kv", 1), ("expert_gating_func", 2), ("expert_weights_scale", 2.5),
                        ("expert_weights_norm", True), ("expert_group_count", 3), ("expert_group_used_count", 2),
                        ("rope.scaling.type", "yarn"), ("rope.scaling.factor", 40.0),
                        ("rope.scaling.original_context_length", 4096), ("rope.scaling.yarn_log_multiplier", 0.1)]:
        m.key(name, value)
    for _, b in blocks(m):
        m.tensor(b + "attn_k_b.weight", NOPE, RANK, H)
        m.tensor(b + "attn_v_b.weight", RANK, VALUE, H)
    return m


def glm4moe(seed):
    m = Model("glm4moe", seed)
    for name, value in [("feed_forward_length", FF), ("expert_feed_forward_length", FF), ("attention.key_length", D),
                        ("attention.value_length", D), ("rope.dimension_count", D // 2), ("rope.freq_base", 1e6),
                        ("leading_dense_block_count", 1), ("expert_shared_count", 1), ("expert_weights_scale", 2.5),
                        ("expert_weights_norm", True), ("expert_gating_func", 2)]:
        m.key(name, value)
    m.begin()
    for i, b in blocks(m):
        m.norm(b + "attn_norm.weight", E)
        m.attention(b, biases="q k v", norms=True)
        m.norm(b + "post_attention_norm.weight", E)
        if i == 0:
            m.ffn(b, "")
        else:
            m.experts(b, bias=True)
            m.ffn(b, "_shexp")
    return m


def gpt_oss(seed):
    m = Model("gpt-oss", seed)
    for name, value in [("expert_feed_forward_length", FF), ("attention.key_length", D), ("attention.value_length", D),
                        ("attention.sliding_window", 6), ("rope.freq_base", 150000.0), ("rope.scaling.type", "yarn"),
                        ("rope.scaling.factor", 32.0), ("rope.scaling.original_context_length", 4096)]:
        m.key(name, value)
    m.begin()
    for _, b in blocks(m):
        m.norm(b + "attn_norm.weight", E)
        m.attention(b, biases="q k v output")
        m.tensor(b + "attn_sinks.weight", H, spread=1.0)
        m.norm(b + "post_attention_norm.weight", E)
        m.experts(b)
        m.tensor(b + "ffn_gate_inp.bias", X, spread=0.3)
        for part, rows in [("gate", FF), ("up", FF), ("down", E)]:
            m.tensor(f"{b}ffn_{part}_exps.bias", rows, X, spread=0.3)
    return m


def qwen3next(seed):
    """Value heads grouped by key head, beta and alpha in one tensor, no layer of next-token prediction."""
    m = Model("qwen3next", seed)
    for name, value in [("block_count", 4), ("expert_feed_forward_length", FF),
                        ("expert_shared_feed_forward_length", FF), ("attention.key_length", D),
                        ("attention.value_length", D), ("rope.dimension_count", D // 2), ("rope.freq_base", 1e7),
                        ("attention.layer_norm_rms_epsilon", 1e-6), ("ssm.conv_kernel", TAPS),
                        ("ssm.state_size", STATE), ("ssm.group_count", KEYS), ("ssm.time_step_rank", VALUES),
                        ("ssm.inner_size", VALUES * STATE)]:
        m.key(name, value)
    m.begin()
    channels = (2 * KEYS + VALUES) * STATE
    for i in range(4):
        b = f"blk.{i}."
        m.norm(b + "attn_norm.weight", E)
        if i == 3:
            m.tensor(b + "attn_q.weight", E, 2 * H * D)
            m.tensor(b + "attn_k.weight", E, KV * D)
            m.tensor(b + "attn_v.weight", E, KV * D)
            m.tensor(b + "attn_output.weight", H * D, E)
            m.norm(b + "attn_q_norm.weight", D)
            m.norm(b + "attn_k_norm.weight", D)
        else:
            m.tensor(b + "attn_qkv.weight", E, channels)
            m.tensor(b + "attn_gate.weight", E, VALUES * STATE)
            m.tensor(b + "ssm_conv1d.weight", TAPS, channels, spread=0.6)
            m.tensor(b + "ssm_dt.bias", VALUES, mean=-1.0)
            m.tensor(b + "ssm_a", VALUES, spread=0.02, mean=-0.2)
            m.tensor(b + "ssm_ba.weight", E, 2 * VALUES)
            m.norm(b + "ssm_norm.weight", STATE)
            m.tensor(b + "ssm_out.weight", VALUES * STATE, E)
        m.norm(b + "post_attention_norm.weight", E)
        m.experts(b)
        m.ffn(b, "_shexp")
        m.tensor(b + "ffn_gate_inp_shexp.weight", E)
    return m


FAMILIES = {f.__name__.replace("_", "-"): f
            for f in (qwen2moe, mixtral, deepseek_v2, deepseek_v3, glm4moe, gpt_oss, granitemoe, qwen3next)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    FAMILIES[args.family](args.seed).write(args.out)


if __name__ == "__main__":
    main()
