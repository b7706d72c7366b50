"""Small PyTorch modules of many kinds, as people write them: `MODULES` has functions that return (module, inputs by name, loss)."""

import torch
from torch import nn
from torch.nn import functional as F

MODULES = {}
CLASSES = "softmax_cross_entropy_mean"
SQUARES = "mse_mean"
TOKENS = "causal_lm_shifted_cross_entropy_mean"


def module(build):
    MODULES[build.__name__] = build
    return build


def real(*shape):
    return torch.randn(*shape)


def indices(high, *shape):
    return torch.randint(0, high, shape)


class Called(nn.Module):
    """A module whose forward is a function of it and the inputs."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs):
        return self.function(self, *inputs)


class Residual(nn.Module):
    def __init__(self, inner, channels):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(inner, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(),
                                  nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels))
        self.short = nn.Identity() if inner == channels else nn.Sequential(nn.Conv2d(inner, channels, 1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        return F.relu(self.body(x) + self.short(x))


class Attention(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.qkv, self.out, self.heads, self.causal = nn.Linear(width, 3 * width), nn.Linear(width, width), heads, causal

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(x).split(width, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, causal)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


@module
def mlp():
    return nn.Sequential(nn.Linear(7, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 5)), {"input": real(6, 7)}, CLASSES


@module
def lenet():
    return nn.Sequential(nn.Conv2d(1, 4, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 3), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(),
                         nn.Linear(32, 10)), {"input": real(4, 1, 16, 16)}, CLASSES


@module
def resnet():
    return nn.Sequential(Residual(3, 6), Residual(6, 6), nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(6, 5)), {"input": real(5, 3, 8, 8)}, CLASSES


@module
def lstm():
    def forward(self, ids):
        return self.head(self.rnn(self.table(ids))[0])

    return Called(forward, table=nn.Embedding(20, 8), rnn=nn.LSTM(8, 6, 2, batch_first=True, bidirectional=True, dropout=0.2),
                  head=nn.Linear(12, 20)), {"ids": indices(20, 3, 7)}, TOKENS


@module
def gru():
    return Called(lambda self, x: self.head(self.rnn(x)[0][:, -1]), rnn=nn.GRU(5, 6, batch_first=True), head=nn.Linear(6, 3)), \
        {"x": real(4, 6, 5)}, CLASSES


@module
def recurrent_cell():
    def forward(self, x):
        h = torch.zeros(x.shape[0], 6)
        for step in range(4):
            h = self.cell(x[:, step], h)
        return self.head(h)

    return Called(forward, cell=nn.RNNCell(5, 6), head=nn.Linear(6, 3)), {"x": real(4, 4, 5)}, SQUARES


@module
def attention():
    return Called(lambda self, x, y: self.attention(x, y, y, need_weights=False)[0], attention=nn.MultiheadAttention(12, 3, batch_first=True)), \
        {"x": real(2, 5, 12), "y": real(2, 7, 12)}, SQUARES


@module
def transformer_encoder():
    """Its layers are copies of one: equal when it is exported."""
    layer = nn.TransformerEncoderLayer(12, 3, 20, dropout=0.1, batch_first=True)
    return Called(lambda self, x: self.head(self.encoder(x)), encoder=nn.TransformerEncoder(layer, 3, enable_nested_tensor=False),
                  head=nn.Linear(12, 4)), {"x": real(2, 6, 12)}, SQUARES


@module
def transformer_decoder():
    layer = nn.TransformerDecoderLayer(12, 2, 20, dropout=0.0, activation="gelu", norm_first=True)
    return Called(lambda self, x, memory: self.decoder(x, memory, tgt_mask=self.mask, tgt_is_causal=False), decoder=nn.TransformerDecoder(layer, 2),
                  mask=nn.Buffer(nn.Transformer.generate_square_subsequent_mask(5))), \
        {"x": real(5, 2, 12), "memory": real(4, 2, 12)}, SQUARES


@module
def gpt():
    """The head is the table; positions are learned."""
    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.positions = nn.Embedding(23, 12), nn.Parameter(0.02 * torch.randn(1, 8, 12))
            self.blocks = nn.ModuleList(Block(12, 3, True) for _ in range(2))
            self.norm, self.head = nn.LayerNorm(12), nn.Linear(12, 23, bias=False)
            self.head.weight = self.table.weight
            nn.init.normal_(self.table.weight, std=0.1)

        def forward(self, ids):
            x = self.table(ids) + self.positions[:, :ids.shape[1]]
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    return Gpt(), {"ids": indices(23, 2, 8)}, TOKENS


@module
def vit():
    class Vit(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches, self.token = nn.Conv2d(3, 12, 4, stride=4), nn.Parameter(torch.zeros(1, 1, 12))
            self.positions = nn.Parameter(0.02 * torch.randn(1, 5, 12))
            self.blocks = nn.Sequential(*(Block(12, 2, False) for _ in range(2)))
            self.head = nn.Linear(12, 6)

        def forward(self, image):
            x = self.patches(image).flatten(2).transpose(1, 2)
            x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.positions
            return self.head(self.blocks(x)[:, 0])

    return Vit(), {"image": real(3, 3, 8, 8)}, CLASSES


@module
def group_norm():
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(2, 8), nn.SiLU(), nn.Conv2d(8, 4, 3), nn.GroupNorm(4, 4), nn.Flatten(),
                         nn.Linear(64, 3)), {"input": real(4, 3, 8, 8)}, CLASSES


@module
def autoencoder():
    return nn.Sequential(nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.InstanceNorm2d(4, affine=True), nn.LeakyReLU(0.1),
                         nn.ConvTranspose2d(4, 1, 4, stride=2, padding=1), nn.Sigmoid()), {"input": real(3, 1, 8, 8)}, SQUARES


@module
def recommender():
    def forward(self, users, items, tags, dense):
        x = torch.cat([self.users(users), self.items(items), self.tags(tags).mean(1), self.bottom(dense)], 1)
        return self.top(x) * self.scale + self.offset

    return Called(forward, users=nn.Embedding(11, 4), items=nn.Embedding(13, 4), tags=nn.Embedding(9, 4), bottom=nn.Linear(3, 4),
                  top=nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1)), scale=nn.Parameter(torch.ones(1)),
                  offset=nn.Parameter(torch.tensor(0.5))), \
        {"users": indices(11, 6), "items": indices(13, 6), "tags": indices(9, 6, 3), "dense": real(6, 3)}, SQUARES


@module
def prelu():
    return nn.Sequential(nn.Conv1d(4, 6, 3), nn.PReLU(), nn.Conv1d(6, 6, 3), nn.PReLU(6), nn.Flatten(), nn.Linear(24, 3)), \
        {"input": real(4, 4, 8)}, CLASSES


@module
def weight_norm():
    norm = nn.utils.parametrizations.weight_norm
    return nn.Sequential(norm(nn.Linear(6, 10)), nn.ELU(), norm(nn.Linear(10, 4))), {"input": real(5, 6)}, CLASSES


@module
def depthwise():
    def part(inner, outer):
        return [nn.Conv2d(inner, inner, 3, padding=1, groups=inner, bias=False), nn.BatchNorm2d(inner), nn.Hardswish(),
                nn.Conv2d(inner, outer, 1), nn.BatchNorm2d(outer), nn.ReLU6()]

    return nn.Sequential(*part(4, 6), *part(6, 8), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4)), {"input": real(5, 4, 6, 6)}, CLASSES


@module
def unet():
    def forward(self, x):
        a = F.relu(self.down1(x))
        b = F.relu(self.down2(F.max_pool2d(a, 2)))
        return self.out(torch.cat([a, F.interpolate(self.up(b), scale_factor=2, mode="nearest")], 1))

    return Called(forward, down1=nn.Conv2d(1, 4, 3, padding=1), down2=nn.Conv2d(4, 8, 3, padding=1), up=nn.Conv2d(8, 4, 1),
                  out=nn.Conv2d(8, 2, 1)), {"x": real(3, 1, 8, 8)}, CLASSES


@module
def conformer():
    def forward(self, x):
        x = x + 0.5 * self.feed(x)
        x = x + self.attention(self.norm(x))
        y = F.glu(self.wide(x.transpose(1, 2)), 1)
        y = self.narrow(F.silu(self.batch_norm(self.deep(y)))).transpose(1, 2)
        return self.head(self.last(x + y))

    return Called(forward, feed=nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 8)), norm=nn.LayerNorm(8),
                  attention=Attention(8, 2, False), wide=nn.Conv1d(8, 16, 1), deep=nn.Conv1d(8, 8, 3, padding=1, groups=8),
                  batch_norm=nn.BatchNorm1d(8), narrow=nn.Conv1d(8, 8, 1), last=nn.LayerNorm(8), head=nn.Linear(8, 5)), \
        {"x": real(3, 6, 8)}, SQUARES


@module
def experts():
    def forward(self, x):
        gates = F.softmax(self.gate(x), -1)
        return sum(gates[:, i:i + 1] * expert(x) for i, expert in enumerate(self.experts))

    return Called(forward, gate=nn.Linear(6, 3), experts=nn.ModuleList(nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))
                                                                       for _ in range(3))), {"x": real(5, 6)}, CLASSES


@module
def text_convolution():
    def forward(self, ids):
        x = self.table(ids).transpose(1, 2)
        return self.head(torch.cat([F.relu(conv(x)).amax(2) for conv in self.convolutions], 1))

    return Called(forward, table=nn.Embedding(19, 6), convolutions=nn.ModuleList(nn.Conv1d(6, 4, size) for size in (2, 3)),
                  head=nn.Linear(8, 3)), {"ids": indices(19, 4, 9)}, CLASSES


@module
def squeeze_excite():
    def forward(self, x):
        x = F.relu(self.norm(self.conv(x)))
        x = x * self.gate(x.mean((2, 3)))[:, :, None, None]
        return self.head(x.flatten(1))

    return Called(forward, conv=nn.Conv2d(3, 6, 3), norm=nn.BatchNorm2d(6), head=nn.Linear(96, 3),
                  gate=nn.Sequential(nn.Linear(6, 2), nn.ReLU(), nn.Linear(2, 6), nn.Sigmoid())), {"x": real(5, 3, 6, 6)}, CLASSES


@module
def sinusoids():
    """Positions are a buffer, no parameter; biases begin as zeros; a layer is called twice, one not at all."""
    class Sinusoids(nn.Module):
        def __init__(self):
            super().__init__()
            angles = torch.arange(6)[:, None] / 100 ** (torch.arange(0, 8, 2) / 8)
            self.register_buffer("positions", torch.cat([angles.sin(), angles.cos()], 1))
            self.first, self.both, self.last = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
            self.unused = nn.Linear(3, 3)
            for layer in (self.first, self.both):
                nn.init.zeros_(layer.bias)

        def forward(self, x):
            x = torch.tanh(self.first(x + self.positions))
            return self.last(torch.tanh(self.both(torch.tanh(self.both(x)))))

    return Sinusoids(), {"x": real(4, 6, 8)}, SQUARES


@module
def frozen():
    """The layers before the last one are not trained; the batch norm keeps its statistics."""
    made = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))
    made[:2].requires_grad_(False)
    made[1].eval()
    return made, {"input": real(4, 2, 6, 6)}, CLASSES


# ---------------------------------------------------------------- what a file cannot have
UNTRUE = {}  # what export_for_training must say of a module that trains otherwise than by its derivatives: (made, inputs, text)
GRADIENT = "gradient is not the derivative"


def untrue(text):
    return lambda make: UNTRUE.setdefault(make.__name__, lambda: (*make(), text))


def two_layers(between, make=lambda: nn.Linear(6, 5)):
    """The second layer takes what `between` makes of the first one's tanh."""
    return Called(lambda self, x: self.last(between(torch.tanh(self.first(x)))), first=make(), last=nn.Linear(5, 3)), {"x": real(4, 6)}


@untrue("first.weight.*" + GRADIENT)
def detached():
    return two_layers(lambda x: x * torch.sigmoid(x.detach()))


@untrue("first.weight.*" + GRADIENT)
def without_grad():
    def between(x):
        with torch.no_grad():
            size = x.abs().mean(1, keepdim=True)
        return x / (size + 0.1)

    return two_layers(between)


@untrue("first.weight.*" + GRADIENT)
def straight_through():
    return two_layers(lambda x: x + (torch.round(x * 4) / 4 - x).detach())


class Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, gradient):
        return -gradient


@untrue("first.weight.*" + GRADIENT)
def own_function():
    return two_layers(Reversed.apply)


@untrue("first.weight.*" + GRADIENT)
def hooked():
    made, inputs = two_layers(lambda x: x)
    made.first.weight.register_hook(lambda gradient: gradient * 3)
    return made, inputs


@untrue("table.weight.*" + GRADIENT)
def scaled_by_frequency():
    return Called(lambda self, ids: self.last(self.table(ids).mean(1)), table=nn.Embedding(5, 4, scale_grad_by_freq=True),
                  last=nn.Linear(4, 3)), {"ids": indices(5, 4, 6)}


@untrue("the module changes .'table.weight'")
def limited_norm():
    return Called(lambda self, ids: self.last(self.table(ids).mean(1)), table=nn.Embedding(5, 4, max_norm=0.1),
                  last=nn.Linear(4, 3)), {"ids": indices(5, 4, 6)}


@untrue("momentum=None")
def cumulative():
    return nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5, momentum=None), nn.Linear(5, 3)), {"input": real(4, 6)}


@untrue("takes a number or a branch .*torch_modules.py:")
def branching():
    return two_layers(lambda x: x * 2 if x.mean() > 0 else x)


@untrue("takes a number or a branch .*torch_modules.py:")
def python_number():
    return two_layers(lambda x: x * float(x.detach().mean()))


TOLD_BY_NOBODY = {"frozen"}  # no exporter writes requires_grad into a file
