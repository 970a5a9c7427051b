"""Makes the fixtures of this folder; needs PyTorch, which the tests themselves do not."""
import json
import zipfile

import torch

torch.manual_seed(0)

# A state dict as modules save it (an OrderedDict with _metadata), with keys of a nested module.
module = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LayerNorm(2))
with torch.no_grad():
    module[0].weight.copy_(torch.arange(6.0).reshape(2, 3))
torch.save(module.state_dict(), "state_dict.pt")
torch.save(module, "module.pt")
torch.save(torch.arange(6.0).reshape(2, 3), "single.pt")
torch.save({"steer": torch.tensor([1.5, -2.0])}, "one_key.pth")
torch.save({"w": torch.nn.Parameter(torch.full((2, 2), 3.0))}, "parameter.pt")
torch.save(
    {
        "cfg": {"lr": 1e-3, "name": "x", "dims": [1, 2], "none": None, "flag": True, "big": 1 << 70, "neg": -5},
        "model": {"w": torch.arange(6).reshape(2, 3).t(), "b": torch.ones(3, dtype=torch.bfloat16)},
        "list": [torch.zeros(2), (torch.ones(1),)],
        3: torch.full((2,), 7.0),
        "size": torch.Size([1, 2]), "dtype": torch.float32, "device": torch.device("cpu"), "set": {1, 2},
    },
    "nested.pt",
)
torch.save(
    {
        "f64": torch.tensor([1.5, -2]).double(), "f32": torch.tensor([1.5, -2]), "f16": torch.tensor([1.5, -2]).half(),
        "bf16": torch.tensor([1.5, -2]).bfloat16(), "i64": torch.tensor([1, -2]), "i32": torch.tensor([1, -2]).int(),
        "i16": torch.tensor([1, -2]).short(), "i8": torch.tensor([1, -2]).to(torch.int8),
        "u8": torch.tensor([1, 254]).to(torch.uint8), "bool": torch.tensor([True, False]),
        "scalar": torch.tensor(3.5), "empty": torch.zeros(0, 4),
    },
    "dtypes.pt",
)
torch.save({"f8": torch.tensor([1.5, -448.0]).to(torch.float8_e4m3fn)}, "float8.pt")
x = torch.arange(10.0)
torch.save({"a": x[2:5], "b": x[5:], "every_other": x[::2], "expanded": x[:2].unsqueeze(0).expand(3, 2)}, "shared.pt")
torch.save({"c": torch.ones(2, dtype=torch.complex64)}, "complex.pt")
torch.save({"a": torch.ones(2)}, "legacy.pt", _use_new_zipfile_serialization=False)

# What another zip program makes of such a file: the same records, compressed.
torch.save({"a": torch.zeros(1000)}, "compressed.pt")
records = [(r.filename, zipfile.ZipFile("compressed.pt").read(r)) for r in zipfile.ZipFile("compressed.pt").infolist()]
with zipfile.ZipFile("compressed.pt", "w", zipfile.ZIP_DEFLATED) as out:
    for name, data in records:
        out.writestr(name, data)

# A checkpoint of two shards: one expert tensor per expert, and the rest.
shards = {
    "pytorch_model-00001-of-00002.bin": {"model.norm.weight": torch.tensor([1.0, 2.0, 3.0]).bfloat16()},
    "pytorch_model-00002-of-00002.bin": {
        f"model.layers.0.mlp.experts.{e}.{p}.weight": torch.full((2, 3), 10.0 * e + i)
        for e in range(2)
        for i, p in enumerate(["gate_proj", "up_proj"])
    },
}
for name, tensors in shards.items():
    torch.save(tensors, "sharded/" + name)
index = {"metadata": {}, "weight_map": {key: name for name, tensors in shards.items() for key in tensors}}
with open("sharded/pytorch_model.bin.index.json", "w") as f:
    json.dump(index, f, indent=1)
