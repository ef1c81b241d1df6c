"""``python -m training.train --data DIR --into DIR --seed N``: trains one model with fixed steps.

Runs on one GPU in minutes and, for a smoke test, on a CPU. The number of steps, the seed and the
order of the data are fixed; the last bits of a GPU's sums are not. Writes the weights that the
package runs, and a report with the figures on the held-out repositories.
"""

import argparse
import json
import math
import os
import sys
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from training.agreement import agreement
from training.data import Drop, Groups, Rows, batches_of
from training.export import export
from training.model import Encoder, Shape
from training.packed import Packed
from training.validate import validate

__all__ = ["Recipe", "main", "train"]


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a model besides its data."""

    seed: int = 0
    steps: int = 2_600
    groups: int = 6
    group: int = 1_024
    rate: float = 1e-3
    warmup: int = 300
    decay: float = 0.02
    dropout: float = 0.1
    #: The last steps are trained with rounded numbers, as they will be when the model runs.
    rounded: float = 0.15
    #: The mean of the weights over about so many steps is what is kept.
    mean_over: int = 300
    forward_share: float = 0.7
    width: int = 256
    inner: int = 128
    hidden: int = 768
    heads: int = 2
    pool_heads: int = 4
    chunk_layers: int = 3
    query_layers: int = 2
    output: int = 256
    shared: bool = False


class Trainer:
    def __init__(self, packed: Packed, recipe: Recipe, device: torch.device) -> None:
        torch.manual_seed(recipe.seed)
        self.recipe = recipe
        self.packed = packed
        self.device = device
        shape = Shape(
            len(packed.pieces), packed.layout.longest, recipe.width, recipe.inner, recipe.hidden,
            recipe.heads, recipe.pool_heads, recipe.chunk_layers, recipe.query_layers, recipe.output,
            recipe.shared,
        )  # fmt: skip
        self.model = Encoder(shape).to(device)
        self.parameters = dict(self.model.named_parameters())
        self.mean = {name: value.detach().clone() for name, value in self.parameters.items()}
        self.queries = Rows.of(packed.query_values, packed.query_lengths, device)
        self.chunks = Rows.of(packed.chunk_values, packed.chunk_lengths, device)
        self.keys = [torch.from_numpy(column).to(device) for column in packed.keys]
        generator = torch.Generator(device).manual_seed(recipe.seed)
        light = torch.from_numpy(packed.light).to(device)
        self.drop_query = Drop(generator, light, queries=True, piece=0.05)
        self.drop_chunk = Drop(generator, light, queries=False, piece=0.12)
        self.optimizer = self._optimizer()

    def _optimizer(self) -> torch.optim.Optimizer:
        decayed = [p for p in self.model.parameters() if p.ndim == 2]
        others = [p for p in self.model.parameters() if p.ndim != 2]
        return torch.optim.AdamW(
            [
                {"params": decayed, "weight_decay": self.recipe.decay},
                {"params": others, "weight_decay": 0.0},
            ],
            lr=self.recipe.rate,
            betas=(0.9, 0.98),
            fused=self.device.type == "cuda",
        )

    def encode(self, rows: Rows, numbers: np.ndarray, *, queries: bool, rounding: bool) -> Tensor:
        """The vectors of the given rows while training."""
        drop = self.drop_query if queries else self.drop_chunk
        sizes = rows.sizes[numbers]
        found: list[Tensor] = []
        places: list[np.ndarray] = []
        for part in batches_of(sizes, 4 if queries else 8):
            batch = rows.batch(numbers[part], drop)
            found.append(
                self.model(batch, queries=queries, dropout=self.recipe.dropout, rounding=rounding)
            )
            places.append(part)
        back = torch.from_numpy(np.argsort(np.concatenate(places))).to(self.device)
        return torch.cat(found)[back]

    def step(self, number: int, pairs: np.ndarray) -> Tensor:
        recipe = self.recipe
        rounding = number >= recipe.steps * (1 - recipe.rounded)
        rate = recipe.rate * _schedule(number, recipe)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            asked = self.encode(self.queries, pairs, queries=True, rounding=rounding)
            given = self.encode(self.chunks, pairs, queries=False, rounding=rounding)
        loss = self._loss(asked, given, pairs)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self._average(number)
        return loss.detach()

    def _loss(self, asked: Tensor, given: Tensor, pairs: np.ndarray) -> Tensor:
        scale = self.model.log_scale.exp().clamp(max=100.0)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            logits = asked @ given.T
        logits = logits.float() * scale
        rows = torch.from_numpy(pairs).to(self.device)
        same = torch.zeros_like(logits, dtype=torch.bool)
        for column in self.keys:
            keys = column[rows]
            same |= keys[:, None] == keys[None, :]
        same.fill_diagonal_(False)
        logits = logits.masked_fill(same, -1e4)
        target = torch.arange(len(pairs), device=self.device)
        share = self.recipe.forward_share
        return share * F.cross_entropy(logits, target) + (1 - share) * F.cross_entropy(
            logits.T, target
        )

    @torch.no_grad()
    def _average(self, number: int) -> None:
        keep = min(1 - 1 / self.recipe.mean_over, number / (number + 10))
        names = list(self.mean)
        torch._foreach_lerp_(
            [self.mean[name] for name in names],
            [self.parameters[name].detach() for name in names],
            1 - keep,
        )


def _schedule(number: int, recipe: Recipe) -> float:
    if number < recipe.warmup:
        return (number + 1) / recipe.warmup
    done = (number - recipe.warmup) / max(1, recipe.steps - recipe.warmup)
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * done))


def train(packed: Packed, recipe: Recipe, into: Path, device: torch.device) -> dict[str, object]:
    """Trains, validates, writes ``model.weights`` and ``report.json``; returns the report."""
    trainer = Trainer(packed, recipe, device)
    batches = iter(
        Groups(
            packed.repositories[: packed.trained].astype(np.int64),
            recipe.seed,
            recipe.groups,
            recipe.group,
        )
    )
    began = time.monotonic()
    losses: list[tuple[int, float]] = []
    for number in range(recipe.steps):
        loss = trainer.step(number, next(batches))
        if number % max(1, recipe.steps // 40) == 0 or number == recipe.steps - 1:
            losses.append((number, round(float(loss), 4)))
            rate = (number + 1) / (time.monotonic() - began)
            print(f"step {number} loss {losses[-1][1]:.3f} {rate:.2f} steps/s", flush=True)
    seconds = time.monotonic() - began
    with torch.no_grad():
        for name, parameter in trainer.model.named_parameters():
            parameter.copy_(trainer.mean[name])
    figures = validate(trainer.model, packed, trainer.queries, trainer.chunks)
    into.mkdir(parents=True, exist_ok=True)
    (into / "model.weights").write_bytes(export(trainer.model, packed.layout, packed.pieces))
    agreed = agreement(
        trainer.model, packed, trainer.queries, trainer.chunks, into / "model.weights"
    )
    report: dict[str, object] = {
        "recipe": asdict(recipe),
        "pairs": packed.trained,
        "epochs": round(recipe.steps * recipe.groups * recipe.group / packed.trained, 2),
        "seconds": round(seconds, 1),
        "scale": round(float(trainer.model.log_scale.detach().exp()), 2),
        "losses": losses,
        "held_out": figures,
        "agreement": agreed,
    }
    (into / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(
        json.dumps({"into": into.name, "seconds": report["seconds"], **figures, **agreed}),
        flush=True,
    )
    return report


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.train")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=0, help="of the CPU; as torch likes, if 0")
    for field in fields(Recipe):
        kind = (
            (lambda text: text == "True")
            if field.type is bool or field.type == "bool"
            else type(field.default)
        )
        parser.add_argument(f"--{field.name}", type=kind, default=field.default)
    options = vars(parser.parse_args(arguments))
    data, into, threads = options.pop("data"), options.pop("into"), options.pop("threads")
    if threads:
        torch.set_num_threads(threads)
    # The same sums in the same order: the same build of torch on the same GPU gives the same bits.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high")
    train(Packed.read(data), Recipe(**options), into, device)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
