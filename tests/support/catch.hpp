#pragma once

// Catch2, version 2 or 3: what is called the same in both.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
namespace qkv::test {
using Catch::Approx;
}  // namespace qkv::test
#else
#include <catch2/catch.hpp>
namespace qkv::test {
using Catch::Detail::Approx;
}  // namespace qkv::test
#endif
