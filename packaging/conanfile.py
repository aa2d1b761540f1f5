"""Conan 2 recipe of the header-only library: conan create packaging"""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load


class Lazymoe(ConanFile):
    name = "lazymoe"
    description = "Mixture-of-experts models whose experts are read when they are needed; header-only C++20"
    license = "MIT"
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True
    requires = "boost/[>=1.74]", "eigen/[>=3.4 <4]", "pcre2/[>=10]", "xsimd/[>=8.1]"
    default_options = {"boost/*:header_only": True}

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "..", "include", "lazymoe", "version.hpp"))
        parts = [re.search(rf"LAZYMOE_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH")]
        self.version = ".".join(parts)

    def export_sources(self):
        top = os.path.join(self.recipe_folder, "..")
        copy(self, "LICENSE", top, self.export_sources_folder)
        copy(self, "include/*.hpp", top, self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*.hpp", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.system_libs = ["pthread"]
