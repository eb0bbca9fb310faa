; ModuleID = "jit_step"
