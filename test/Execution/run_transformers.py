"""Exports models of the library `transformers` and compares what autopar makes of them with PyTorch.

    python test/Execution/run_transformers.py [--models NAME,...] [--exporters dynamo,torchscript] [--ranks 1,2,3,4] [--seed N]

Needs torch, transformers, onnx and onnxscript; says so and skips where one is absent. Nothing is downloaded: each model is built
from a small configuration whose sizes are drawn (odd ones are likely), with drawn weights and inputs. Each exporter's file is
compiled for every number of ranks, with `auto` and with a strategy drawn from those that the model can follow, and every output
must be within the tolerance of `autopar.compare`. A model that an exporter refuses, or that onnxruntime computes otherwise than
PyTorch, is counted apart. The last line counts: "N right, N refused by the exporter, N refused by autopar, N WRONG".
"""

import argparse
import collections
import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
import warnings
import zlib

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import find_tool  # noqa: E402
from autopar.compare import compare  # noqa: E402

NEEDED = ["torch", "transformers", "onnx", "onnxscript", "onnxruntime"]
STRATEGIES = ["data", "row", "column", "tensor", "layer", "channel", "spatial"]
MODELS = {}  # name -> function(Sizes) -> (model, inputs, output field)


def model(name):
    def add(build):
        MODELS[name] = build
        return build

    return add


class Sizes:
    """Draws sizes and inputs; `seed`, the model's name and the exporter determine all."""

    def __init__(self, seed, name, exporter):
        import torch
        import transformers

        self.tf, self.torch = transformers, torch
        self.rng = np.random.default_rng([seed, zlib.crc32((name + exporter).encode())])
        # TorchScript knows no aten::diff, with which the library looks for packed sequences where it is given no mask.
        self.masked = exporter == "torchscript" or bool(self.rng.integers(2))
        self.batch = self.pick(2, 3, 4, 5)
        self.seq = self.pick(7, 11, 13, 16, 18)
        self.heads = self.pick(3, 4, 6)
        self.head = self.pick(8, 10, 12, 16)
        self.width = self.heads * self.head
        self.ffn = self.pick(37, 56, 75, 96)
        self.layers = self.pick(2, 3)
        self.vocab = self.pick(97, 128, 211)

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def ids(self, *shape, low=3):
        return self.torch.from_numpy(self.rng.integers(low, self.vocab, shape or (self.batch, self.seq)))

    def mask(self, shape=None):
        batch, seq = shape or (self.batch, self.seq)
        lengths = self.rng.integers(seq // 2, seq + 1, (batch, 1))
        lengths[0] = seq
        return self.torch.from_numpy((np.arange(seq)[None] < lengths).astype(np.int64))

    def real(self, *shape):
        return self.torch.from_numpy(self.rng.standard_normal(shape).astype(np.float32))

    def decoder(self, config, cls, **more):
        """A causal language model with the configuration's common names for sizes."""
        config = config(**dict(dict(vocab_size=self.vocab, hidden_size=self.width, num_hidden_layers=self.layers,
                                    num_attention_heads=self.heads, intermediate_size=self.ffn, max_position_embeddings=64,
                                    pad_token_id=0, bos_token_id=1, eos_token_id=2), **more))
        inputs = dict(input_ids=self.ids())
        if self.masked:
            inputs["attention_mask"] = self.mask()
        return cls(config), inputs, "logits", dict(use_cache=False)

    def encoder(self, config, cls, *, types=False, **more):
        config = config(**dict(dict(vocab_size=self.vocab, hidden_size=self.width, num_hidden_layers=self.layers,
                                    num_attention_heads=self.heads, intermediate_size=self.ffn, max_position_embeddings=64,
                                    pad_token_id=0), **more))
        inputs = dict(input_ids=self.ids(), attention_mask=self.mask())
        if types:
            inputs["token_type_ids"] = self.ids(low=0) % 2
        return cls(config), inputs, "logits", {}

    def vision(self, config, cls, size, out="logits", **more):
        return cls(config(**more)), dict(pixel_values=self.real(self.batch, 3, size, size)), out, {}


# ---------------------------------------------------------------- decoders
@model("opt")
def _(s):
    return s.decoder(s.tf.OPTConfig, s.tf.OPTForCausalLM, ffn_dim=s.ffn, word_embed_proj_dim=s.width)


@model("bloom")
def _(s):
    return s.decoder(s.tf.BloomConfig, s.tf.BloomForCausalLM, n_layer=s.layers, n_head=s.heads)


@model("gpt-neox")
def _(s):
    return s.decoder(s.tf.GPTNeoXConfig, s.tf.GPTNeoXForCausalLM)


@model("gpt-neo")
def _(s):
    return s.decoder(s.tf.GPTNeoConfig, s.tf.GPTNeoForCausalLM, num_layers=2, num_heads=s.heads, window_size=5,
                     attention_types=[[["global", "local"], 1]])


@model("gptj")
def _(s):
    return s.decoder(s.tf.GPTJConfig, s.tf.GPTJForCausalLM, n_embd=s.width, n_layer=s.layers, n_head=s.heads, n_positions=64,
                     rotary_dim=4, n_inner=s.ffn)


@model("codegen")
def _(s):
    return s.decoder(s.tf.CodeGenConfig, s.tf.CodeGenForCausalLM, hidden_size=4 * s.head, num_attention_heads=4, n_positions=64,
                     rotary_dim=4, n_inner=s.ffn)


@model("falcon")
def _(s):
    return s.decoder(s.tf.FalconConfig, s.tf.FalconForCausalLM, ffn_hidden_size=s.ffn)


@model("qwen2")
def _(s):
    return s.decoder(s.tf.Qwen2Config, s.tf.Qwen2ForCausalLM, num_key_value_heads=1, use_sliding_window=True, sliding_window=5,
                     max_window_layers=1)


@model("qwen3")
def _(s):
    return s.decoder(s.tf.Qwen3Config, s.tf.Qwen3ForCausalLM, num_key_value_heads=s.heads, head_dim=s.head + 4)


@model("qwen3-moe")
def _(s):
    return s.decoder(s.tf.Qwen3MoeConfig, s.tf.Qwen3MoeForCausalLM, num_key_value_heads=1, head_dim=s.head, num_experts=5,
                     num_experts_per_tok=2, moe_intermediate_size=s.ffn, experts_implementation="batched_mm")


@model("gemma2")
def _(s):
    return s.decoder(s.tf.Gemma2Config, s.tf.Gemma2ForCausalLM, num_key_value_heads=1, head_dim=s.head, sliding_window=5,
                     attn_implementation="eager")


@model("gemma3")
def _(s):
    return s.decoder(s.tf.Gemma3TextConfig, s.tf.Gemma3ForCausalLM, num_key_value_heads=1, head_dim=s.head, sliding_window=5)


@model("phi")
def _(s):
    return s.decoder(s.tf.PhiConfig, s.tf.PhiForCausalLM, partial_rotary_factor=0.5)


@model("phi3")
def _(s):
    return s.decoder(s.tf.Phi3Config, s.tf.Phi3ForCausalLM, num_key_value_heads=1, sliding_window=6)


@model("stablelm")
def _(s):
    return s.decoder(s.tf.StableLmConfig, s.tf.StableLmForCausalLM, num_key_value_heads=1)


@model("olmo2")
def _(s):
    return s.decoder(s.tf.Olmo2Config, s.tf.Olmo2ForCausalLM, num_key_value_heads=s.heads)


@model("cohere")
def _(s):
    return s.decoder(s.tf.CohereConfig, s.tf.CohereForCausalLM, num_key_value_heads=1)


@model("starcoder2")
def _(s):
    return s.decoder(s.tf.Starcoder2Config, s.tf.Starcoder2ForCausalLM, num_key_value_heads=1, sliding_window=4)


@model("granite")
def _(s):
    return s.decoder(s.tf.GraniteConfig, s.tf.GraniteForCausalLM, num_key_value_heads=1, residual_multiplier=0.5)


@model("mamba")
def _(s):
    config = s.tf.MambaConfig(vocab_size=s.vocab, hidden_size=s.width, num_hidden_layers=2, state_size=6, conv_kernel=4)
    return s.tf.MambaForCausalLM(config), dict(input_ids=s.ids(s.batch, 7)), "logits", dict(use_cache=False)


@model("rwkv")
def _(s):
    config = s.tf.RwkvConfig(vocab_size=s.vocab, hidden_size=s.width, num_hidden_layers=2, context_length=32,
                             attention_hidden_size=s.width, intermediate_size=s.ffn)
    return s.tf.RwkvForCausalLM(config), dict(input_ids=s.ids(s.batch, 7)), "logits", dict(use_cache=False)


@model("xlnet")
def _(s):
    config = s.tf.XLNetConfig(vocab_size=s.vocab, d_model=s.width, n_layer=2, n_head=s.heads, d_inner=s.ffn)
    return s.tf.XLNetLMHeadModel(config), dict(input_ids=s.ids(), attention_mask=s.mask()), "logits", dict(use_mems=False)


# ---------------------------------------------------------------- encoders
@model("distilbert")
def _(s):
    return s.encoder(s.tf.DistilBertConfig, s.tf.DistilBertForMaskedLM, dim=s.width, n_layers=s.layers, n_heads=s.heads,
                     hidden_dim=s.ffn)


@model("albert")
def _(s):
    return s.encoder(s.tf.AlbertConfig, s.tf.AlbertForMaskedLM, types=True, embedding_size=22)


@model("roberta")
def _(s):
    return s.encoder(s.tf.RobertaConfig, s.tf.RobertaForSequenceClassification, num_labels=5, pad_token_id=1)


@model("electra")
def _(s):
    return s.encoder(s.tf.ElectraConfig, s.tf.ElectraForTokenClassification, embedding_size=26, num_labels=3)


@model("deberta-v2")
def _(s):
    return s.encoder(s.tf.DebertaV2Config, s.tf.DebertaV2ForSequenceClassification, relative_attention=True, position_buckets=6,
                     norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type="p2c|c2p", num_labels=3)


@model("mpnet")
def _(s):
    return s.encoder(s.tf.MPNetConfig, s.tf.MPNetForMaskedLM, pad_token_id=1)


@model("funnel")
def _(s):
    config = s.tf.FunnelConfig(vocab_size=s.vocab, block_sizes=[1, 1], num_decoder_layers=1, d_model=s.width, n_head=s.heads,
                               d_head=s.head, d_inner=s.ffn)
    return s.tf.FunnelForMaskedLM(config), dict(input_ids=s.ids(), attention_mask=s.mask()), "logits", {}


@model("longformer")
def _(s):
    return s.encoder(s.tf.LongformerConfig, s.tf.LongformerForMaskedLM, attention_window=4, pad_token_id=1)


@model("fnet")
def _(s):
    return s.encoder(s.tf.FNetConfig, s.tf.FNetForMaskedLM)


@model("squeezebert")
def _(s):
    return s.encoder(s.tf.SqueezeBertConfig, s.tf.SqueezeBertForMaskedLM, hidden_size=48, num_attention_heads=4,
                     embedding_size=48, intermediate_size=96, q_groups=2, k_groups=2, v_groups=2, post_attention_groups=1,
                     intermediate_groups=4, output_groups=4)


@model("modernbert")
def _(s):
    return s.encoder(s.tf.ModernBertConfig, s.tf.ModernBertForMaskedLM, local_attention=6, global_attn_every_n_layers=2,
                     cls_token_id=1, sep_token_id=2)


@model("convbert")
def _(s):
    return s.encoder(s.tf.ConvBertConfig, s.tf.ConvBertForMaskedLM, hidden_size=48, num_attention_heads=4, embedding_size=48,
                     head_ratio=2, conv_kernel_size=3)


# ---------------------------------------------------------------- encoder and decoder
def seq2seq(s, config, cls, **more):
    config = config(vocab_size=s.vocab, d_model=s.width, encoder_layers=2, decoder_layers=2, encoder_attention_heads=s.heads,
                    decoder_attention_heads=s.heads, encoder_ffn_dim=s.ffn, decoder_ffn_dim=s.ffn, max_position_embeddings=64,
                    pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, forced_eos_token_id=None, **more)
    inputs = dict(input_ids=s.ids(), attention_mask=s.mask(), decoder_input_ids=s.ids(s.batch, 9))
    return cls(config), inputs, "logits", dict(use_cache=False)


@model("bart")
def _(s):
    return seq2seq(s, s.tf.BartConfig, s.tf.BartForConditionalGeneration)


@model("pegasus")
def _(s):
    return seq2seq(s, s.tf.PegasusConfig, s.tf.PegasusForConditionalGeneration)


@model("marian")
def _(s):
    return seq2seq(s, s.tf.MarianConfig, s.tf.MarianMTModel)


@model("blenderbot")
def _(s):
    return seq2seq(s, s.tf.BlenderbotConfig, s.tf.BlenderbotForConditionalGeneration)


@model("whisper")
def _(s):
    config = s.tf.WhisperConfig(vocab_size=s.vocab, d_model=s.width, encoder_layers=2, decoder_layers=2,
                                encoder_attention_heads=s.heads, decoder_attention_heads=s.heads, encoder_ffn_dim=s.ffn,
                                decoder_ffn_dim=s.ffn, num_mel_bins=10, max_source_positions=15, max_target_positions=20,
                                pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)
    inputs = dict(input_features=s.real(s.batch, 10, 30), decoder_input_ids=s.ids(s.batch, 9))
    if s.masked:
        inputs["decoder_attention_mask"] = s.mask((s.batch, 9))
    return s.tf.WhisperForConditionalGeneration(config), inputs, "logits", dict(use_cache=False)


# ---------------------------------------------------------------- images
@model("swin")
def _(s):
    return s.vision(s.tf.SwinConfig, s.tf.SwinForImageClassification, 32, image_size=32, patch_size=2, embed_dim=12,
                    depths=[2, 2], num_heads=[2, 4], window_size=4, num_labels=7)


@model("swinv2")
def _(s):
    return s.vision(s.tf.Swinv2Config, s.tf.Swinv2ForImageClassification, 32, image_size=32, patch_size=2, embed_dim=12,
                    depths=[2, 2], num_heads=[2, 4], window_size=4, num_labels=7)


@model("convnext")
def _(s):
    return s.vision(s.tf.ConvNextConfig, s.tf.ConvNextForImageClassification, 45, hidden_sizes=[10, 20, 30], depths=[1, 2, 1],
                    num_stages=3, num_labels=5)


@model("convnextv2")
def _(s):
    return s.vision(s.tf.ConvNextV2Config, s.tf.ConvNextV2ForImageClassification, 40, hidden_sizes=[10, 20, 30],
                    depths=[1, 2, 1], num_stages=3, num_labels=5)


@model("beit")
def _(s):
    return s.vision(s.tf.BeitConfig, s.tf.BeitForImageClassification, 30, image_size=30, patch_size=6, hidden_size=s.width,
                    num_hidden_layers=2, num_attention_heads=s.heads, intermediate_size=s.ffn, num_labels=5,
                    use_relative_position_bias=True)


@model("deit")
def _(s):
    return s.vision(s.tf.DeiTConfig, s.tf.DeiTForImageClassification, 30, image_size=30, patch_size=6, hidden_size=s.width,
                    num_hidden_layers=2, num_attention_heads=s.heads, intermediate_size=s.ffn, num_labels=5)


@model("dinov2")
def _(s):
    return s.vision(s.tf.Dinov2Config, s.tf.Dinov2ForImageClassification, 28, image_size=42, patch_size=7, hidden_size=s.width,
                    num_hidden_layers=2, num_attention_heads=s.heads, mlp_ratio=2, num_labels=5)


@model("segformer")
def _(s):
    return s.vision(s.tf.SegformerConfig, s.tf.SegformerForSemanticSegmentation, 64, depths=[1, 1, 1, 1],
                    hidden_sizes=[8, 12, 20, 24], num_attention_heads=[1, 2, 2, 4], decoder_hidden_size=18, num_labels=5)


@model("mobilenet-v1")
def _(s):
    return s.vision(s.tf.MobileNetV1Config, s.tf.MobileNetV1ForImageClassification, 50, depth_multiplier=0.25, num_labels=7)


@model("mobilenet-v2")
def _(s):
    return s.vision(s.tf.MobileNetV2Config, s.tf.MobileNetV2ForImageClassification, 49, depth_multiplier=0.35, num_labels=7)


@model("mobilevit")
def _(s):
    return s.vision(s.tf.MobileViTConfig, s.tf.MobileViTForImageClassification, 64, image_size=64, hidden_sizes=[12, 16, 20],
                    neck_hidden_sizes=[4, 6, 8, 10, 12, 14, 16], num_labels=7)


@model("regnet")
def _(s):
    return s.vision(s.tf.RegNetConfig, s.tf.RegNetForImageClassification, 47, embedding_size=8, hidden_sizes=[16, 24, 32],
                    depths=[1, 1, 2], groups_width=8, num_labels=7)


@model("poolformer")
def _(s):
    return s.vision(s.tf.PoolFormerConfig, s.tf.PoolFormerForImageClassification, 40, depths=[1, 1, 1, 1],
                    hidden_sizes=[8, 10, 12, 14], num_labels=6)


@model("levit")
def _(s):
    return s.vision(s.tf.LevitConfig, s.tf.LevitForImageClassification, 64, image_size=64, hidden_sizes=[16, 24, 32],
                    num_attention_heads=[2, 3, 4], depths=[1, 1, 1], key_dim=[8, 8, 8], num_labels=6)


@model("pvt-v2")
def _(s):
    return s.vision(s.tf.PvtV2Config, s.tf.PvtV2ForImageClassification, 64, image_size=64, depths=[1, 1, 1, 1],
                    hidden_sizes=[8, 16, 24, 32], num_attention_heads=[1, 2, 3, 4], num_labels=6)


@model("dpt")
def _(s):
    return s.vision(s.tf.DPTConfig, s.tf.DPTForDepthEstimation, 32, out="predicted_depth", image_size=32, patch_size=8,
                    hidden_size=s.width, num_hidden_layers=4, num_attention_heads=s.heads, intermediate_size=s.ffn,
                    backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 12, 16, 20], fusion_hidden_size=10, is_hybrid=False)


@model("focalnet")
def _(s):
    return s.vision(s.tf.FocalNetConfig, s.tf.FocalNetForImageClassification, 32, image_size=32, patch_size=4, embed_dim=12,
                    depths=[1, 2], focal_levels=[2, 2], focal_windows=[3, 3], num_labels=6)


@model("vit-msn")
def _(s):
    return s.vision(s.tf.ViTMSNConfig, s.tf.ViTMSNForImageClassification, 30, image_size=30, patch_size=5, hidden_size=s.width,
                    num_hidden_layers=2, num_attention_heads=s.heads, intermediate_size=s.ffn, num_labels=6)


@model("yolos")
def _(s):
    return s.vision(s.tf.YolosConfig, s.tf.YolosForObjectDetection, 40, image_size=[40, 40], patch_size=8, hidden_size=s.width,
                    num_hidden_layers=2, num_attention_heads=s.heads, intermediate_size=s.ffn, num_detection_tokens=9)


# ---------------------------------------------------------------- several kinds of input, sound
@model("clip")
def _(s):
    text = dict(vocab_size=s.vocab, hidden_size=s.width, intermediate_size=s.ffn, num_hidden_layers=2,
                num_attention_heads=s.heads, max_position_embeddings=32, eos_token_id=2)
    vision = dict(hidden_size=s.width, intermediate_size=s.ffn, num_hidden_layers=2, num_attention_heads=s.heads, image_size=30,
                  patch_size=6)
    config = s.tf.CLIPConfig(text_config=text, vision_config=vision, projection_dim=22)
    inputs = dict(input_ids=s.ids(), pixel_values=s.real(3, 3, 30, 30), attention_mask=s.mask())
    return s.tf.CLIPModel(config), inputs, "logits_per_image", {}


@model("wav2vec2")
def _(s):
    config = s.tf.Wav2Vec2Config(vocab_size=31, hidden_size=s.width, num_hidden_layers=2, num_attention_heads=s.heads,
                                 intermediate_size=s.ffn, conv_dim=(8, 12, 16), conv_stride=(5, 2, 2), conv_kernel=(10, 3, 3),
                                 num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2)
    return s.tf.Wav2Vec2ForCTC(config), dict(input_values=s.real(s.batch, 801)), "logits", {}


@model("hubert")
def _(s):
    config = s.tf.HubertConfig(vocab_size=31, hidden_size=s.width, num_hidden_layers=2, num_attention_heads=s.heads,
                               intermediate_size=s.ffn, conv_dim=(8, 12), conv_stride=(5, 3), conv_kernel=(10, 3),
                               num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2, num_feat_extract_layers=2)
    return s.tf.HubertForCTC(config), dict(input_values=s.real(s.batch, 700)), "logits", {}


@model("audio-spectrogram")
def _(s):
    config = s.tf.ASTConfig(hidden_size=s.width, num_hidden_layers=2, num_attention_heads=s.heads, intermediate_size=s.ffn,
                            patch_size=6, frequency_stride=4, time_stride=5, max_length=40, num_mel_bins=20, num_labels=5)
    return s.tf.ASTForAudioClassification(config), dict(input_values=s.real(s.batch, 40, 20)), "logits", {}


@model("perceiver")
def _(s):
    config = s.tf.PerceiverConfig(num_latents=11, d_latents=24, d_model=20, num_blocks=1, num_self_attends_per_block=2,
                                  num_self_attention_heads=4, num_cross_attention_heads=4, vocab_size=s.vocab,
                                  max_position_embeddings=s.seq, num_labels=5)
    inputs = dict(inputs=s.ids(), attention_mask=s.mask())
    return s.tf.PerceiverForSequenceClassification(config), inputs, "logits", {}


@model("decision-transformer")
def _(s):
    config = s.tf.DecisionTransformerConfig(state_dim=7, act_dim=3, hidden_size=s.width, max_ep_len=50, n_layer=2,
                                            n_head=s.heads, n_inner=s.ffn)
    t = s.torch
    inputs = dict(states=s.real(s.batch, 6, 7), actions=s.real(s.batch, 6, 3), returns_to_go=s.real(s.batch, 6, 1),
                  timesteps=t.arange(6)[None].repeat(s.batch, 1), attention_mask=t.ones(s.batch, 6, dtype=t.int64))
    return s.tf.DecisionTransformerModel(config), inputs, "action_preds", {}


@model("time-series")
def _(s):
    config = s.tf.PatchTSTConfig(num_input_channels=3, context_length=32, patch_length=5, patch_stride=4, d_model=s.width,
                                 num_hidden_layers=2, num_attention_heads=s.heads, ffn_dim=s.ffn, prediction_length=6)
    return s.tf.PatchTSTForPrediction(config), dict(past_values=s.real(s.batch, 32, 3)), "prediction_outputs", {}


# ---------------------------------------------------------------- export
def randomize(module, seed):
    """Weights of about 1/sqrt(fan in), scales near 1, no bias zero: every parameter matters."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in module.named_parameters():
            noise = torch.randn(p.shape, generator=generator)
            if p.dim() >= 2:
                p.copy_(noise * (0.5 if re.search(r"emb|token|table", name) else max(p[0].numel(), 1) ** -0.5))
            else:
                p.copy_(1 + 0.1 * noise if name.endswith(("weight", "scale")) else 0.1 * noise)
        for name, b in module.named_buffers():
            if name.endswith("running_var"):
                b.copy_(0.5 + torch.rand(b.shape, generator=generator))
            if name.endswith("running_mean"):
                b.copy_(0.1 * torch.randn(b.shape, generator=generator))
    return module.eval()


def wrap(module, names, field, options):
    import torch

    class Call(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = module

        def forward(self, *tensors):
            return getattr(self.inner(**dict(zip(names, tensors)), **options), field)

    return Call().eval()


def export(name, exporter, seed, folder):
    """Writes model.onnx, inputs.npz and outputs.npz; returns "" or why the exporter cannot."""
    import onnxruntime
    import torch

    torch.manual_seed(seed)
    sizes = Sizes(seed, name, exporter)
    module, inputs, field, options = MODELS[name](sizes)
    call = wrap(randomize(module, seed), list(inputs), field, options)
    path = os.path.join(folder, "model.onnx")
    values = tuple(inputs.values())
    with torch.no_grad():
        reference = call(*values).numpy()
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                if exporter == "dynamo":
                    torch.onnx.export(call, values, path, dynamo=True, opset_version=int(sizes.pick(18, 20, 21, 23)),
                                      external_data=False, verbose=False, input_names=list(inputs), output_names=["y"])
                else:
                    torch.onnx.export(call, values, path, dynamo=False, opset_version=17, input_names=list(inputs),
                                      output_names=["y"])
        except Exception as error:  # the exporters raise nearly every type
            return f"{type(error).__name__}: {str(error).strip().splitlines()[0][:120] if str(error).strip() else ''}"
    arrays = {key: value.numpy() for key, value in inputs.items()}
    try:
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        used = {i.name for i in session.get_inputs()}
        arrays = {key: value for key, value in arrays.items() if key in used}
        expected = session.run(None, arrays)[0]
        if not max(compare({"y": expected}, {"y": reference}, 1e-3).values()) <= 1:
            return "onnxruntime computes otherwise than PyTorch"
    except Exception as error:  # onnxruntime's own classes
        return f"onnxruntime: {str(error).strip().splitlines()[0][:120]}"
    np.savez(os.path.join(folder, "inputs.npz"), **arrays)
    np.savez(os.path.join(folder, "outputs.npz"), y=reference)
    return ""


# ---------------------------------------------------------------- compile, run, compare
def call(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return done.returncode, (done.stdout + done.stderr).strip()


def attempt(folder, ranks, strategy):
    """("right" | "refused" | "cannot follow" | "WRONG", why)"""
    program = os.path.join(folder, "program")
    code, log = call([find_tool(), "compile", os.path.join(folder, "model.onnx"), "-o", program, "--ranks", str(ranks),
                      "--strategy", strategy])
    if code < 0 or code >= 100:
        return "WRONG", f"the compiler ended with {code}: {log[-300:]}"
    if code:
        kind = "cannot follow" if "can follow" in log else "refused"
        return kind, next((line for line in log.splitlines() if "error" in line), log[-200:])[-300:]
    outputs = os.path.join(folder, "got.npz")
    code, log = call([program, "--inputs", os.path.join(folder, "inputs.npz"), "--outputs", outputs])
    if code:
        return "WRONG", f"the program ended with {code}: {log[-300:]}"
    with np.load(outputs) as got, np.load(os.path.join(folder, "outputs.npz")) as reference:
        worst = max(compare(dict(got), dict(reference), 1e-4 if ranks == 1 else 5e-4).values())
    return ("right", "") if worst <= 1 else ("WRONG", f"outputs differ: {worst:.3g} of the tolerance")


def run_model(name, exporter, options, folder):
    """Yields (label, kind, why) of each case."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            why = export(name, exporter, options.seed, folder)
    except Exception as error:  # the configuration does not fit this version of the library
        why = f"{type(error).__name__}: {str(error)[:200]}"
    if why:
        yield f"{name} {exporter}", "refused by the exporter", why
        return
    rng = np.random.default_rng([options.seed, zlib.crc32((name + exporter).encode())])
    for ranks in map(int, options.ranks.split(",")):
        kind, why = attempt(folder, ranks, "auto")
        yield f"{name} {exporter} x{ranks} auto", kind, why
        if kind == "refused":
            return
        if ranks == 1:
            continue
        for strategy in rng.permutation(STRATEGIES):
            kind, why = attempt(folder, ranks, strategy)
            if kind != "cannot follow":
                yield f"{name} {exporter} x{ranks} {strategy}", kind, why
                break


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--exporters", default="dynamo,torchscript")
    parser.add_argument("--ranks", default="1,2,3,4")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="a folder for the exported models")
    parser.add_argument("--verbose", action="store_true", help="also what is right")
    options = parser.parse_args()
    absent = [module for module in NEEDED if importlib.util.find_spec(module) is None]
    if absent:
        print(f"skipped: Python has no {', '.join(absent)}")
        return 0
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as work:
        for name in options.models.split(","):
            for exporter in options.exporters.split(","):
                folder = os.path.join(options.keep or work, f"{name}-{exporter}")
                os.makedirs(folder, exist_ok=True)
                each = collections.Counter()
                for label, kind, why in run_model(name, exporter, options, folder):
                    each[kind] += 1
                    if kind != "right" or options.verbose:
                        print(f"  {label}: {kind} {why}", flush=True)
                print(f"{name} {exporter}: " + ", ".join(f"{n} {kind}" for kind, n in each.items()), flush=True)
                counts += each
    print(f"{counts['right']} right, {counts['refused by the exporter']} refused by the exporter, "
          f"{counts['refused']} refused by autopar, {counts['WRONG']} WRONG")
    return counts["WRONG"] > 0


if __name__ == "__main__":
    sys.exit(main())
