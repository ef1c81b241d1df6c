"""The code-search model: texts to vectors of small integers, and which of them are nearest.

Everything runs on the CPU with numpy alone, without a network, from one file of weights that lies
in the package. A vector depends on its own text only: not on the batch it was computed in, the
number of threads or the make of the CPU.
"""
