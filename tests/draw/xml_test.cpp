#include "support/xml.hpp"

#include "support/catch.hpp"

namespace qkv::test {
namespace {

TEST_CASE("the parser of these tests refuses what is not XML", "[draw]") {
  const auto refused = [](const std::string& body) {
    return !parse_xml("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + body).error.empty();
  };
  CHECK_FALSE(refused("<svg a=\"1\"><text>x &lt; y</text></svg>\n"));
  CHECK(refused("<svg><text>a</svg>"));
  CHECK(refused("<svg>a & b</svg>"));
  CHECK(refused("<svg>a < b</svg>"));
  CHECK(refused("<svg a=1></svg>"));
  CHECK(refused("<svg a=\"<\"></svg>"));
  CHECK(refused("<svg>\xFF</svg>"));
  CHECK(refused("<svg>\x01</svg>"));
  CHECK(refused("<svg>"));
}

}  // namespace
}  // namespace qkv::test
