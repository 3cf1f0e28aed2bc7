#include "qkv/core/error.hpp"

#include "support/catch.hpp"

namespace qkv::test {

TEST_CASE("a message is one line of text, whatever stood in the file", "[core]") {
  const Error error(ErrorCode::model,
                    "config.json: key 'a\nb\x1B[31m\x7F\xC2\x9B \xFF \xC3\xA9 \\n' is not understood");
  CHECK(std::string(error.what()) ==
        "config.json: key 'a\\nb\\x1B[31m\\x7F\\xC2\\x9B \\xFF \xC3\xA9 \\n' is not understood");
}

}  // namespace qkv::test
