#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/io/json_reader.hpp"

namespace qkv::tokenizing {

/// A token on its way to becoming text, or a part of one: decoders that join tokens hand them on bit by bit, so that
/// text can be written while it is made.
struct Fragment {
  std::string_view text;
  bool added;  // an added token: its text is meant as it stands
  bool ends;   // the last part of its token
};

/// One decoder at work on one text.
class DecodeStage {
 public:
  virtual ~DecodeStage() = default;
  virtual void push(const Fragment& fragment) = 0;
  /// No more will come. Hands on what is held; the caller tells the next stage afterwards.
  virtual void finish() {}
  void set_next(DecodeStage* next) { next_ = next; }

 protected:
  DecodeStage& next() { return *next_; }

 private:
  DecodeStage* next_ = nullptr;
};

/// A stage that needs each token whole.
class TokenStage : public DecodeStage {
 public:
  void push(const Fragment& fragment) final;

 protected:
  virtual void rewrite(std::string_view token, bool added) = 0;
  void hand_on(std::string_view token, bool added) { next().push({token, added, true}); }

 private:
  std::string held_;
};

using DecodeStages = std::vector<std::unique_ptr<DecodeStage>>;

/// Turns the pieces of tokens back into text.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Appends the stages for one text. With `inner`, the text stands somewhere inside a larger one, so that nothing is
  /// stripped from its ends.
  virtual void start(DecodeStages& stages, bool inner) const = 0;
  /// Whether pieces are spelled in the byte-level alphabet.
  [[nodiscard]] virtual bool is_byte_level() const { return false; }
};

/// The decoder that `object` describes. Throws Error{model} naming file, key and what is not understood.
[[nodiscard]] std::unique_ptr<const Decoder> make_decoder(const JsonReader& object);

/// What stands in for a decoder where a file has none: tokens with a space between.
[[nodiscard]] std::unique_ptr<const Decoder> make_joining_decoder();

/// The decoder of byte-level vocabularies.
[[nodiscard]] std::unique_ptr<const Decoder> make_byte_level_decoder();

/// All the stages of a decoder at work on one text.
class DecodeRun {
 public:
  DecodeRun(const Decoder& decoder, bool inner);
  void push(std::string_view piece, bool added);
  void finish();
  /// The text that is certain by now, once.
  [[nodiscard]] std::string take();

 private:
  std::unique_ptr<std::string> text_;
  DecodeStages stages_;
};

}  // namespace qkv::tokenizing
