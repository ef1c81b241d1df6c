"""The encoder in PyTorch, as it is trained. ``export.py`` turns it into what the package runs.

Two towers, one for chunks and one for queries, share the embeddings of pieces and places. A tower
is a few pre-norm transformer layers without biases, and a pooling by learnt shares. Nothing in it
needs more than the integer arithmetic of ``sightline.index.dense.encoder``.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sightline.index.dense.layout import FIELDS

__all__ = ["Batch", "Encoder", "Shape"]


@dataclass(frozen=True)
class Shape:
    """The sizes of a model."""

    pieces: int
    longest: int
    width: int = 256
    inner: int = 128
    hidden: int = 512
    heads: int = 2
    pool_heads: int = 4
    chunk_layers: int = 2
    query_layers: int = 3
    output: int = 256
    #: Whether both sides use the layers of the chunk side.
    shared: bool = False


@dataclass
class Batch:
    """Rows of about the same length: numbers, fields, places, and what is there at all."""

    pieces: Tensor
    fields: Tensor
    places: Tensor
    real: Tensor


class Rounding(torch.autograd.Function):
    """Rounds to integers of seven bits with one scale along an axis; gradients pass through."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, axis: int) -> Tensor:
        scale = x.abs().amax(axis, keepdim=True).clamp_min(1e-12) / 127
        return torch.round(x / scale) * scale

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return grads[0], None


class Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.attention = nn.Linear(shape.width, 3 * shape.inner, bias=False)
        self.mixed = nn.Linear(shape.inner, shape.width, bias=False)
        self.wide = nn.Linear(shape.width, shape.hidden, bias=False)
        self.narrow = nn.Linear(shape.hidden, shape.width, bias=False)

    def forward(self, x: Tensor, mask: Tensor, dropout: float, rounding: bool) -> Tensor:
        count, length, _ = x.shape
        parts = _linear(self.attention, _norm(x), rounding)
        q, k, v = parts.view(count, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        found = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        joined = found.transpose(1, 2).reshape(count, length, -1)
        x = x + F.dropout(_linear(self.mixed, joined, rounding), dropout)
        hidden = F.dropout(F.relu(_linear(self.wide, _norm(x), rounding)), dropout)
        return x + F.dropout(_linear(self.narrow, hidden, rounding), dropout)


class Tower(nn.Module):
    def __init__(self, shape: Shape, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(shape) for _ in range(layers))
        self.pool = nn.Linear(shape.width, shape.pool_heads, bias=False)
        self.output = nn.Linear(shape.width, shape.output, bias=False)
        self.heads = shape.pool_heads

    def forward(self, x: Tensor, real: Tensor, dropout: float, rounding: bool) -> Tensor:
        mask = real[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask, dropout, rounding)
        x = _norm(x)
        scores = _linear(self.pool, x, rounding).masked_fill(~real[:, :, None], -1e4)
        shares = scores.float().softmax(1).to(x.dtype)
        count, length, width = x.shape
        parts = x.view(count, length, self.heads, width // self.heads)
        pooled = torch.einsum("blh,blhd->bhd", shares, parts).reshape(count, width)
        return F.normalize(_linear(self.output, pooled, rounding).float(), dim=-1)


class Encoder(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.tokens = nn.Embedding(shape.pieces, shape.width)
        self.places = nn.Parameter(torch.zeros(FIELDS, shape.longest, shape.width))
        self.chunks = Tower(shape, shape.chunk_layers)
        self.queries = self.chunks if shape.shared else Tower(shape, shape.query_layers)
        self.log_scale = nn.Parameter(torch.tensor(math.log(20.0)))
        self._start()

    def _start(self) -> None:
        nn.init.normal_(self.tokens.weight, std=0.05)
        nn.init.normal_(self.places, std=0.02)
        for tower in dict.fromkeys((self.chunks, self.queries)):  # once if shared, in this order
            depth = 2 * max(1, len(tower.layers))
            for name, parameter in tower.named_parameters():
                std = 1 / math.sqrt(parameter.shape[1])
                if name.endswith(("mixed.weight", "narrow.weight")):
                    std /= math.sqrt(depth)
                nn.init.normal_(parameter, std=std)

    def embed(self, batch: Batch) -> Tensor:
        # As a product: the gradient of so many equal indices would take longer than all the rest.
        numbers = batch.fields * self.shape.longest + batch.places
        table = self.places.flatten(0, 1)
        hot = F.one_hot(numbers, len(table)).to(torch.bfloat16 if table.is_cuda else table.dtype)
        return self.tokens(batch.pieces) + hot @ table.to(hot.dtype)

    def forward(self, batch: Batch, *, queries: bool, dropout: float, rounding: bool) -> Tensor:
        x = F.dropout(self.embed(batch), dropout)
        tower = self.queries if queries else self.chunks
        vectors: Tensor = tower(x, batch.real, dropout, rounding)
        return vectors


def _norm(x: Tensor) -> Tensor:
    return F.rms_norm(x, (x.shape[-1],))


def _linear(layer: nn.Linear, x: Tensor, rounding: bool) -> Tensor:
    if not rounding:
        return layer(x)  # type: ignore[no-any-return]
    return F.linear(Rounding.apply(x, -1), Rounding.apply(layer.weight, 1))
