"""What an array is for, by the path that leads to it. Only what the names and types on the way say plainly: an array without
such a sign has no category."""

import re

PARAMETERS, GRADIENTS, OPTIMIZER_STATE, INPUTS = "parameters", "gradients", "optimizer state", "inputs"

# In this order: opt_state[0].mu['params']['w'] is state of the optimizer, and params['w'].grad a gradient.
_BY_WORD = (
    (re.compile(r"(^|_)(opt|optim|optimizer|optimiser|adam|adamw|sgd)(_?states?)?$|^(mu|nu|exp_avg|exp_avg_sq|max_exp_avg_sq"
                r"|momentum|momentum_buffer|trace)$"), OPTIMIZER_STATE),
    (re.compile(r"(^|_)(grad|grads|gradient|gradients)$"), GRADIENTS),
    (re.compile(r"(^|_)(params?|parameters?|weights?|kernel|bias|embedding|batch_stats)$"), PARAMETERS),
    (re.compile(r"(^|_)(batch|batches|inputs?|images?|tokens?|input_ids|labels?|targets?|x|y|xs|ys)$"), INPUTS),
)
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def _of_type(kind):
    module = getattr(kind, "__module__", "")
    module = module if type(module) is str else ""
    if module.startswith(("optax", "torch.optim", "flax.training.optimizer")) and kind.__name__ != "MultiSteps":
        return OPTIMIZER_STATE
    if module.startswith("torch.nn.parameter") or (module.startswith("flax.nnx") and kind.__name__ in ("Param", "BatchStat")):
        return PARAMETERS
    return ""


def category_of(found):
    kinds = {_of_type(type(value)) for _, value in found.steps}
    if OPTIMIZER_STATE in kinds:
        return OPTIMIZER_STATE
    words = [word.lower() for text, _ in found.steps for word in _WORD.findall(text)]
    for pattern, category in _BY_WORD[:2]:
        if any(pattern.search(word) for word in words):
            return category
    if PARAMETERS in kinds:
        return PARAMETERS
    for pattern, category in _BY_WORD[2:]:
        if any(pattern.search(word) for word in words):
            return category
    return ""
