"""What an array is for, by the path that leads to it. Only what the names and types on the way say plainly: an array without
such a sign has no category."""

import re

PARAMETERS, GRADIENTS, OPTIMIZER_STATE, INPUTS = "parameters", "gradients", "optimizer state", "inputs"

# In this order: opt_state[0].mu['params']['w'] is state of the optimizer, and params['w'].grad a gradient.
_BY_WORD = (
    (re.compile(r"(^|_)(opt|optim|optimizer|optimiser|adam|adamw|sgd)(_?states?)?$"), OPTIMIZER_STATE),
    (re.compile(r"(^|_)(grad|grads|gradient|gradients)$"), GRADIENTS),
    (re.compile(r"(^|_)(params?|parameters?|weights?|batch_stats)$"), PARAMETERS),
    (re.compile(r"(^|_)(batch|batches|inputs?|images?|tokens?|input_ids|labels?|targets?)$"), INPUTS),
)
# As an attribute: a variable of that name may be anything.
_OF_OPTIMIZERS = frozenset((".mu", ".nu", ".exp_avg", ".exp_avg_sq", ".max_exp_avg_sq", ".momentum_buffer", ".trace"))
# With these, arrays that are arranged as the parameters are what an optimizer keeps of them.
_LIKE_STATE = re.compile(r"moment|optim|opt_|state|veloc|accum", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def _of_type(kind):
    module = getattr(kind, "__module__", "")
    module = module if type(module) is str else ""
    if module.startswith(("optax", "torch.optim", "flax.training.optimizer")) and kind.__name__ != "MultiSteps":
        return OPTIMIZER_STATE
    if module.startswith("torch.nn.parameter") or (module.startswith("flax.nnx") and kind.__name__ in ("Param", "BatchStat")):
        return PARAMETERS
    return ""


def _category_of(found):
    kinds = {_of_type(type(value)) for _, value in found.steps}
    if OPTIMIZER_STATE in kinds or any(text in _OF_OPTIMIZERS for text, _ in found.steps):
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


def _ends_of(found):
    """The path without its first step, its first two steps, and so on."""
    for first in range(1, len(found.steps)):
        yield "".join(text for text, _ in found.steps[first:])


def categories_of(all_found):
    """The category of each; empty: unknown."""
    categories = [_category_of(found) for found in all_found]
    shapes = {}  # Of parameters, by the end of the path.
    for found, category in zip(all_found, categories):
        if category == PARAMETERS:
            for end in _ends_of(found):
                shapes.setdefault(end, getattr(found.leaf, "shape", None))
                break
    for number, found in enumerate(all_found):
        shape = getattr(found.leaf, "shape", None)
        if categories[number] == "" and _LIKE_STATE.search(found.path) and any(end in shapes and shapes[end] == shape for end in _ends_of(found)):
            categories[number] = OPTIMIZER_STATE
    return categories
