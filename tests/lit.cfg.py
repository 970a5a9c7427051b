# lit configuration of the suites tests/{dialect,passes,pipelines,exec}.
import os

import lit.formats

config.name = "nnterp"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "data", "CMakeLists.txt", "lit.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
build = lit_config.params["build"]
llvm = lit_config.params["llvm"]
config.test_exec_root = os.path.join(build, "tests", "lit")
config.environment["PATH"] = os.pathsep.join([os.path.join(build, "bin"), llvm, config.environment["PATH"]])
config.environment["XDG_CACHE_HOME"] = os.path.join(build, "tests", "cache-home")
if "ASAN_OPTIONS" in os.environ:
    config.environment["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"]
config.substitutions.append(("%data", os.path.join(config.test_source_root, "data")))
config.substitutions.append(("%plans", os.path.join(config.test_source_root, "data", "plans")))
