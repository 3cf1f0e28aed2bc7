#pragma once

#include <string>
#include <vector>

#include "qkv/core/error.hpp"
#include "support/catch.hpp"

namespace qkv::test {

/// Checks that `action` throws qkv::Error with this code, and that its one-line message holds all of `parts`.
template <typename Action>
void check_refused(ErrorCode code, Action action, const std::vector<std::string>& parts) {
  bool refused = false;
  std::string message;
  try {
    action();
  } catch (const Error& error) {
    refused = true;
    message = error.what();
    CHECK(static_cast<int>(error.code()) == static_cast<int>(code));
  }
  CAPTURE(message);
  CHECK(refused);
  for (const auto& part : parts) {
    CAPTURE(part);
    CHECK(message.find(part) != std::string::npos);
  }
  CHECK(message.find('\n') == std::string::npos);
}

}  // namespace qkv::test
