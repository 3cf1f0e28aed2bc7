#include "interrupt.hpp"

#include <csignal>

namespace qkv::app {
namespace {

volatile std::sig_atomic_t asked_to_stop = 0;

extern "C" void note_signal(int) { asked_to_stop = 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool was_interrupted() { return asked_to_stop != 0; }

void stop_if_interrupted() {
  if (was_interrupted()) throw Interrupted{};
}

}  // namespace qkv::app
