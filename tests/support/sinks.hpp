#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "qkv/core/error.hpp"
#include "qkv/io/sink.hpp"

namespace qkv::test {

class TextSink : public Sink {
 public:
  void write(std::string_view more) override { bytes += more; }
  std::string bytes;
};

/// Fails after some bytes, as a full disk does.
class FullSink : public Sink {
 public:
  explicit FullSink(std::size_t room) : room_(room) {}
  void write(std::string_view bytes) override {
    if (failed) ++writes_after_failure;
    if (bytes.size() > room_) {
      failed = true;
      throw Error(ErrorCode::input, "the disk of the test is full");
    }
    room_ -= bytes.size();
  }
  bool failed = false;
  int writes_after_failure = 0;

 private:
  std::size_t room_;
};

}  // namespace qkv::test
