"""Triton's interpreter without PyTorch, whose tensors it takes."""


class Held:
    """A numpy array in the form in which the interpreter takes tensors."""

    def __init__(self, array):
        self.array, self.dtype = array, array.dtype

    data_ptr = property(lambda self: lambda: self.array.ctypes.data)
    untyped_storage = cpu = lambda self: self
    size = stride = storage_offset = set_ = copy_ = lambda self, *given: None
    new_empty = lambda self, size, device: Held(self.array)
