#pragma once

#include <string>

namespace qkv::app {

/// What this program is: version, compiler, BLAS library and kernel, vector instructions, backends built in.
[[nodiscard]] std::string version_text();

}  // namespace qkv::app
