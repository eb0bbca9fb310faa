"""PyTorch's tensors on GPUs: how they are recognised, where their memory is, and the paths that modules and optimizers
give them (model.layers.0.weight, its .grad, optimizer.state['model.layers.0.weight'].exp_avg)."""

import sys

from . import own_errors


def find():
    """None if PyTorch is not in use."""
    torch = sys.modules.get("torch")
    return Torch(torch) if all(hasattr(torch, name) for name in ("Tensor", "nn", "optim")) else None


def _of_module(module):
    attributes = object.__getattribute__(module, "__dict__")
    for kind in ("_parameters", "_buffers", "_modules"):
        for name, child in list((attributes.get(kind) or {}).items()):
            if child is not None:
                yield "." + name, child
    for name, child in list(attributes.items()):
        if name not in ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set"):
            yield "." + name, child


class Torch:
    name = "PyTorch"

    def __init__(self, torch):
        self._torch = torch
        self._paths = {}  # Of parameters, by id, of this look.

    def versions(self):
        version = getattr(self._torch, "__version__", None)
        if isinstance(version, str):
            yield "torch", version

    def is_leaf(self, value):
        return issubclass(type(value), self._torch.Tensor)

    def quiet(self):
        """While it is entered, the job's own classes of tensors, and its modes, run none of its code."""
        return self._torch._C.DisableTorchFunction()

    def children_of(self, kind):
        torch = self._torch
        if issubclass(kind, torch.Tensor):
            return "%s", self._of_tensor
        if issubclass(kind, torch.nn.Module):
            return "%s", _of_module
        if issubclass(kind, torch.optim.Optimizer):
            return "%s", self._of_optimizer
        module = kind.__dict__.get("__module__")
        package = module.partition(".")[0] if type(module) is str else ""
        is_left_out = package == "torch" and not module.startswith(("torch.utils.data", "torch.cuda.amp", "torch.amp"))
        return ("%s", _of_others) if is_left_out else None

    def _of_tensor(self, tensor):
        # A tensor of torch.distributed.tensor has its memory in another one.
        local = object.__getattribute__(tensor, "__dict__").get("_local_tensor")
        if local is not None:
            yield "", local
        # A tensor that is no leaf of autograd warns when it is asked for its gradient.
        if own_errors.answer(lambda: tensor.is_leaf, False) and tensor.grad is not None:
            yield ".grad", tensor.grad

    def _of_optimizer(self, optimizer):
        attributes = object.__getattribute__(optimizer, "__dict__")
        number = 0
        for group in attributes.get("param_groups") or ():
            for parameter in group["params"]:
                state = attributes["state"].get(parameter)
                name = self._paths.get(id(parameter), str(number))
                number += 1
                for key, child in list(state.items()) if isinstance(state, dict) else ():
                    yield ".state[%r].%s" % (name, key), child

    def is_late(self, kind):
        return issubclass(kind, self._torch.optim.Optimizer)

    def note(self, found):
        self._paths[id(found.leaf)] = found.path

    def blocks(self, blocks_max):
        """(device, address, bytes, requested) of each block in use. Nothing if there are more, or if the job records its
        memory's history, which PyTorch's list would contain as well."""
        cuda = self._torch.cuda
        records_history = getattr(self._torch._C, "_cuda_isHistoryEnabled", lambda: True)
        if not cuda.is_initialized() or records_history():
            return
        if sum(cuda.memory_stats(device).get("active.all.current", 0) for device in range(cuda.device_count())) > blocks_max:
            return
        for segment in cuda.memory_snapshot():
            address = segment["address"]
            for block in segment["blocks"]:
                if block["state"] == "active_allocated":
                    yield segment["device"], address, block["size"], block.get("requested_size")
                address += block["size"]

    def graph_of(self, tensor):
        """The operation that made it, if autograd has kept it."""
        return own_errors.answer(lambda: tensor.grad_fn, None)

    def is_gone(self, tensor):
        return False

    def addresses_of(self, tensor, is_thorough):
        del is_thorough
        if tensor.is_cuda and tensor.layout == self._torch.strided:
            address = tensor.untyped_storage().data_ptr()
            if address != 0:
                yield address


def _of_others(_):
    return ()
