// A training job for dry_run_test.py: a step whose state is donated, with arrays that nobody frees.
//
//   pretend_jax_job STEPS ROWS READS     each step leaves an array of ROWS x 512 bytes behind; so many losses are read
#include <cstdio>
#include <cstdlib>

#include "tests/tpu_plugin/pretend_jax.h"
#include "tests/tpu_plugin/pretend_program.h"

int main(int, char** words) {
  using namespace hbmscope::pretend;
  const int steps = std::atoi(words[1]), rows = std::atoi(words[2]), reads = std::atoi(words[3]);
  try {
    const Jax jax;
    auto* state = jax.put({4096, 128});
    auto* step = jax.compile(program_text("jit_train_step", 4096, 64 << 20, true));
    for (int i = 0; i < steps; ++i) {
      state = jax.run(step, {state})[0];
      jax.put({rows, 128});
    }
    if (reads > 0) {
      const std::vector<float> data(4 * 128, 1);
      auto* input = jax.put({4, 128}, data.data());
      auto* loss = jax.run(jax.compile(program_text("jit_loss", 4, 1 << 20, false)), {input})[0];
      jax.values(input, 4 * 128);  // As the program has put it there.
      for (int i = 0; i < reads; ++i) jax.values(loss, 4 * 128);
      jax.values(state, 4096 * 128);  // Large.
    }
    jax.free(state);
  } catch (const Refusal& refusal) {
    std::fprintf(stderr, "jaxlib: RESOURCE_EXHAUSTED: %s\n", refusal.what());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
