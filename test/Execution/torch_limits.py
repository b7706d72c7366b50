"""PyTorch modules at the limits of `export_for_training`: `DROPPED` drop at random, `BATCHED` take batches of any size, `REFUSED` cannot be
exported, and the text says why."""

import itertools
import math

import torch
from torch import nn
from torch.nn import functional as F
from torch_modules import CLASSES, SQUARES, Called, indices, module, real, untrue

DROPPED = {}  # functions that return (module, input): the losses' mean and spread are PyTorch's
BATCHED = {}  # functions that return (module, inputs by name, dynamic_batch): another size, and the example's, are right without a warning
REFUSED = {}  # functions that return (module, example, further arguments of the export): and the text of its error


def dropped(make):
    DROPPED[make.__name__] = make
    return make


def batched(make):
    BATCHED[make.__name__] = make
    return make


def refused(text):
    return lambda make: REFUSED.setdefault(make.__name__, lambda: (*make(), text))


# ---------------------------------------------------------------- dropout
@dropped
def dropped_attention():
    def forward(self, x):
        q, k, v = (part.view(4, 6, 2, 8).transpose(1, 2) for part in self.qkv(x).split(16, 2))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=0.5 if self.training else 0.0)

    return Called(forward, qkv=nn.Linear(16, 48)), real(4, 6, 16)


@dropped
def dropped_multihead():
    return Called(lambda self, x: self.attention(x, x, x, need_weights=False)[0],
                  attention=nn.MultiheadAttention(16, 2, dropout=0.5, batch_first=True)), real(4, 6, 16)


@dropped
def dropped_encoder():
    return nn.TransformerEncoderLayer(16, 2, 32, dropout=0.4, batch_first=True, norm_first=True), real(4, 6, 16)


@dropped
def dropped_grouped():
    """Attention whose key and value have fewer heads: TorchScript refuses it."""
    def forward(self, x):
        q, k, v = self.q(x).view(4, 6, 2, 8).transpose(1, 2), self.k(x)[:, None], self.v(x)[:, None]
        return F.scaled_dot_product_attention(q, k, v, enable_gqa=True, dropout_p=0.5 * self.training)

    return Called(forward, q=nn.Linear(16, 16), k=nn.Linear(16, 8), v=nn.Linear(16, 8)), real(4, 6, 16)


def recurrent(kind, **arguments):
    rnn = kind(16, 12, num_layers=3, dropout=0.6, **arguments)
    return Called(lambda self, x: 3 * self.rnn(x)[0], rnn=rnn), real(4, 6, 16)


@dropped
def dropped_rnn():
    return recurrent(nn.RNN, batch_first=True)


@dropped
def dropped_relu_rnn():
    return recurrent(nn.RNN, nonlinearity="relu", bidirectional=True)


@dropped
def dropped_lstm():
    return recurrent(nn.LSTM, bidirectional=True)


@dropped
def dropped_gru():
    return recurrent(nn.GRU, bias=False)


@dropped
def dropped_channels():
    return nn.Sequential(nn.Conv2d(3, 6, 3), nn.Dropout2d(0.5), nn.Dropout2d(0.0)), real(2, 3, 8, 8)


@dropped
def dropped_alpha():
    return nn.Sequential(nn.Linear(16, 16), nn.AlphaDropout(0.4)), real(4, 6, 16)


@dropped
def dropped_alpha_channels():
    return nn.Sequential(nn.Linear(16, 16), nn.FeatureAlphaDropout(0.4)), real(4, 6, 16)


@dropped
def dropped_paths():
    """As timm and torchvision drop paths."""
    def forward(self, x):
        y = self.layer(x)
        return x + (y * y.new_empty(y.shape[0], 1).bernoulli_(0.7).div_(0.7) if self.training else y)

    return Called(forward, layer=nn.Linear(16, 16)), real(8, 16)


@dropped
def never_left_out():
    """A layer that is left out with probability 0 draws a number, and a dropout that is not used one more."""
    def forward(self, x):
        F.dropout(self.layer(x), 0.5, self.training)
        leave = self.training and torch.rand([]) < self.layer.weight.shape[0] - 16
        return F.dropout(x if leave else self.layer(x), 0.3, self.training)

    return Called(forward, layer=nn.Linear(16, 16)), real(8, 16)


class Halved(torch.autograd.Function):
    """Its node for the exporter of TorchScript drops nothing."""

    @staticmethod
    def forward(ctx, x):
        ctx.mask = F.dropout(torch.ones_like(x), 0.5, True)
        return x * ctx.mask

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.mask

    @staticmethod
    def symbolic(g, x):
        return g.op("Identity", x)


@dropped
def dropped_by_function():
    return Called(lambda self, x: Halved.apply(self.layer(x)) if self.training else self.layer(x), layer=nn.Linear(16, 16)), real(8, 16)


# ---------------------------------------------------------------- other random numbers
@refused(r"Called by randn_like at .*torch_limits.py:\d+; .* none but those of dropout")
def noise():
    return Called(lambda self, x: self.layer(x + torch.randn_like(x) if self.training else x), layer=nn.Linear(4, 3)), real(5, 4), {}


@refused(r"'between' \(Called\) by rand at .*torch_limits.py:\d+")
def drawn_within():
    between = Called(lambda self, x: x * (0.5 + torch.rand(5, 1)).floor() if self.training else x)
    return Called(lambda self, x: self.layer(self.between(x)), between=between, layer=nn.Linear(4, 3)), real(5, 4), {}


@refused("those of Python, numpy")
def left_out():
    def forward(self, x):
        return self.last(x) if self.training and next(self.draws) else self.last(self.layer(x))

    made = Called(forward, layer=nn.Linear(4, 4), last=nn.Linear(4, 3))
    made.draws = itertools.cycle([0, 1])  # as random.random() < 0.5, for sure
    return made, real(5, 4), {}


# ---------------------------------------------------------------- batches of other sizes
@batched
def batched_sizes():
    """Numbers of other sizes than the batch's."""
    return Called(lambda self, x: self.layer(x) / math.sqrt(x.shape[1]) + float(len(x[0])), layer=nn.Linear(4, 3)), {"x": real(5, 4)}, True


@batched
def batched_state():
    def forward(self, x):
        state = torch.zeros(x.shape[0], 6)
        for step in range(x.shape[1]):
            state = self.cell(x[:, step], state)
        return state.reshape(x.shape[0], 2, 3).flatten(1)

    return Called(forward, cell=nn.GRUCell(5, 6)), {"x": real(3, 4, 5)}, True


@batched
def batched_positions():
    """The positions are as many as the example's rows, and keep their size."""
    return Called(lambda self, x, positions, scale: self.layer(x) * scale + self.table(positions), layer=nn.Linear(3, 4), table=nn.Embedding(9, 4)), \
        {"x": real(5, 5, 3), "positions": indices(9, 5), "scale": torch.tensor(0.5)}, ["x"]


@batched
def batched_masks():
    """One row of positions serves all rows; a scalar has no batch."""
    return Called(lambda self, x, positions, scale: self.layer(x) * scale + self.table(positions), layer=nn.Linear(3, 4), table=nn.Embedding(9, 4)), \
        {"x": real(4, 5, 3), "positions": indices(9, 1, 5), "scale": torch.tensor(0.5)}, True


DYNAMIC = {"dynamic_batch": True}
BATCH = r"with a batch of 2, .*forward takes a number or a branch from the batch's size \(.*torch_limits.py:\d+\), which .* the example, 9"


def by_batch(function):
    return Called(lambda self, x: function(self.layer(x)), layer=nn.Linear(4, 3)), real(9, 4), DYNAMIC


@refused(BATCH)
def branch_of_batch():
    return by_batch(lambda y: y / 4 if y.shape[0] > 3 else y)


@refused("with a batch of 2, the file does not run .*forward takes a number or a branch from the batch's size, .* the example, 9")
def loop_of_batch():
    return by_batch(lambda y: y + sum(y[i] for i in range(y.shape[0])))


@refused(BATCH)
def root_of_batch():
    return by_batch(lambda y: y / math.sqrt(y.shape[0]))


@refused(BATCH)
def length_of_batch():
    return by_batch(lambda y: y / float(len(y)))


@refused(r"other batches than of 9 rows, the example's: with 2 rows: RuntimeError: shape '\[9, 3\]'.* dynamic_batch=\['x'\]")
def shape_of_batch():
    return by_batch(lambda y: y.reshape(9, 3))


@refused(r"dynamic_batch names \['images'\]; the inputs are \['inputs_0'\]")
def unknown_batch():
    return Called(lambda self, x: self.layer(x), layer=nn.Linear(4, 3)), real(9, 4), {"dynamic_batch": ["images"]}


@refused(r"have one first dimension, the batch; the example's are {'x': \(9, 4\), 'y': \(8, 4\)}")
def several_batches():
    return Called(lambda self, x, y: self.layer(x).sum() + y.sum(), layer=nn.Linear(4, 3)), (real(9, 4), real(8, 4)), \
        {"dynamic_batch": ["x", "y"], "input_names": ["x", "y"]}


# ---------------------------------------------------------------- modules that exporters write otherwise
@module
def own_statistics():
    """Batch norm without running statistics, of one layer called twice, too."""
    def forward(self, a, b):
        a, b = (self.norm(F.relu(self.convolution(x))) for x in (a, b))
        return self.head(self.plain(torch.cat([a, b], 1)).flatten(1))

    return Called(forward, convolution=nn.Conv2d(2, 3, 3), norm=nn.BatchNorm2d(3, track_running_stats=False), head=nn.Linear(96, 2),
                  plain=nn.BatchNorm2d(6, affine=False, track_running_stats=False)), {"a": real(4, 2, 6, 6), "b": real(4, 2, 6, 6)}, SQUARES


@module
def padded_bags():
    """A row of the table is no part of a bag's mean or weighted sum, and one bag has no other."""
    def forward(self, ids, weights):
        return self.head(torch.cat([self.means(ids), self.sums(ids, per_sample_weights=weights)], 1))

    ids = indices(7, 6, 4)
    ids[0] = 2
    return Called(forward, means=nn.EmbeddingBag(7, 4, padding_idx=2), sums=nn.EmbeddingBag(7, 3, mode="sum", padding_idx=-5), head=nn.Linear(7, 3)), \
        {"ids": ids, "weights": real(6, 4)}, CLASSES


@module
def padded_table():
    """The row of the padding stays zeros, of ids of several dimensions and of two embeddings of one table."""
    def forward(self, ids, tags):
        x = self.rnn(self.words(ids))[0][:, -1]
        return self.head(torch.cat([x, self.tags(tags).sum(1), self.same(tags).amax(1)], 1))

    words, same = nn.Embedding(7, 4, padding_idx=2), nn.Embedding(7, 4, padding_idx=2)
    same.weight = words.weight
    return Called(forward, words=words, same=same, tags=nn.Embedding(7, 3, padding_idx=0), rnn=nn.GRU(4, 5, batch_first=True), head=nn.Linear(12, 3)), \
        {"ids": indices(7, 5, 6), "tags": indices(7, 5, 4)}, CLASSES


@untrue("ONNX has no padding_idx: .*'table.weight' .row 1.")
def kept_padding():
    """The row is no zeros."""
    made = Called(lambda self, ids: self.head(self.table(ids).mean(1)), table=nn.Embedding(7, 4, padding_idx=1), head=nn.Linear(4, 3))
    nn.init.ones_(made.table.weight)
    return made, {"ids": indices(7, 5, 6)}


@untrue("ONNX has no padding_idx: .*'table.weight' .row 1.")
def tied_padding():
    """The head trains the row."""
    return Called(lambda self, ids: F.linear(self.table(ids).mean(1), self.table.weight), table=nn.Embedding(7, 4, padding_idx=1)), \
        {"ids": indices(7, 5, 6)}


@module
def changed_inputs():
    return Called(lambda self, x: self.layer(x.add_(1)), layer=nn.Linear(4, 3)), {"x": real(5, 4)}, CLASSES


@untrue("the module changes .'first.parametrizations.weight.0._u', 'first.parametrizations.weight.0._v'. when it trains")
def spectral():
    return Called(lambda self, x: self.last(torch.tanh(self.first(x))), first=nn.utils.parametrizations.spectral_norm(nn.Linear(8, 20)),
                  last=nn.Linear(20, 3)), {"x": real(4, 8)}


# ---------------------------------------------------------------- what is no module for training
@refused(r"'norm' \(BatchNorm1d\) is called 2 times by one forward.* torch.cat.* track_running_stats=False")
def siamese():
    return Called(lambda self, a, b: self.head(self.norm(a) - self.norm(b)), norm=nn.BatchNorm1d(4), head=nn.Linear(4, 2)), (real(5, 4), real(5, 4)), {}


@refused(r"'1' \(InstanceNorm2d\) has track_running_stats=True.* give it track_running_stats=False")
def instance_statistics():
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.InstanceNorm2d(4, track_running_stats=True)), real(2, 3, 8, 8), {}


@refused(r"'0' \(EmbeddingBag\) has a padding_idx.* torch.amax")
def padded_maximum():
    return nn.Sequential(nn.EmbeddingBag(7, 4, mode="max", padding_idx=0), nn.Linear(4, 2)), indices(7, 5, 3), {}


@refused("nothing is trained: all parameters have requires_grad=False")
def all_frozen():
    return nn.Linear(4, 3).requires_grad_(False), real(5, 4), {}


@refused("nothing is trained: the module has no parameters")
def no_parameters():
    return nn.ReLU(), real(5, 4), {}


@refused(r"forward of 'last' \(Called\) computes otherwise in eval mode than when it trains, by self.training")
def probabilities():
    return Called(lambda self, x: self.last(self.norm(self.layer(x))), layer=nn.Linear(4, 3), norm=nn.BatchNorm1d(3),
                  last=Called(lambda self, x: x if self.training else x.softmax(-1))), real(5, 4), {}


@refused(r"forward draws random numbers in eval mode, too: Called by bernoulli_ at .*torch_limits.py:\d+; functional.dropout takes training=self.training")
def always_dropped():
    return Called(lambda self, x: F.dropout(self.layer(x), 0.5), layer=nn.Linear(4, 3)), real(5, 4), {}


@refused("when it trains forward fails with the example: RuntimeError: mat1 and mat2")
def other_width():
    return nn.Linear(4, 3), real(5, 7), {}


@refused("the module is a function, no torch.nn.Module")
def a_function():
    return lambda x: x, real(5, 4), {}


@refused("the module is the class Linear, no instance of it")
def a_class():
    return nn.Linear, real(5, 4), {}


@refused(r"forward changes \['0.weight_u', '0.weight_v'\], which it may read: ONNX has no such states")
def old_spectral():
    return nn.Sequential(nn.utils.spectral_norm(nn.Linear(8, 20)), nn.Linear(20, 2)), real(6, 8), {}
