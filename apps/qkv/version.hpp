#pragma once

#include <string>

#include "qkv/timing/report.hpp"

namespace qkv::app {

/// What the program was built with, and the BLAS kernel chosen for this processor.
[[nodiscard]] Build build();

/// The same, and the backends built in, as --version prints it.
[[nodiscard]] std::string version_text();

}  // namespace qkv::app
