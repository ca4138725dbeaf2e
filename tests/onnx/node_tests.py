"""Writes ONNX's node tests of some ops as files: test_NAME/model.onnx beside test_data_set_0/input_N.pb and output_N.pb.

    python3 tests/onnx/node_tests.py FOLDER Attention Softmax MatMul

Needs the onnx package. It no longer carries these files, but the code that makes them.
"""

import sys
import warnings
from pathlib import Path

import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases


def write(path, values, names):
    for index, (value, name) in enumerate(zip(values, names)):
        if not isinstance(value, TensorProto):
            value = numpy_helper.from_array(value, name)
        Path(f"{path}_{index}.pb").write_bytes(value.SerializeToString())


def main():
    folder, *ops = sys.argv[1:]
    warnings.simplefilter("ignore")  # NumPy on the overflows that some tests are about
    written = 0
    for case in collect_testcases():
        nodes = [node.op_type for node in case.model.graph.node]
        if len(nodes) > 1 or nodes[0] not in ops:
            continue
        test = Path(folder) / case.name
        test.mkdir(parents=True, exist_ok=True)
        (test / "model.onnx").write_bytes(case.model.SerializeToString())
        for index, (inputs, outputs) in enumerate(case.data_sets):
            data = test / f"test_data_set_{index}"
            data.mkdir(exist_ok=True)
            write(data / "input", inputs, [each.name for each in case.model.graph.input])
            write(data / "output", outputs, [each.name for each in case.model.graph.output])
        written += 1
    print(f"{written} node tests of onnx {onnx.__version__} in {folder}")


if __name__ == "__main__":
    main()
