#include "analysis/query/executed_programs.h"

#include <gtest/gtest.h>

#include "analysis/query/job_facts.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

TEST(ExecutedPrograms, ThoseThatNeedMostComeFirstAndEqualOnesAreCounted) {
  TraceBuilder builder;
  builder.writer.add_job_fact("program.jit_add", "arguments=8 outputs=4 aliased=0 temporaries=0 code=1");
  builder.writer.add_job_fact("program.jit_step", "arguments=100 outputs=80 aliased=70 temporaries=30 code=9");
  builder.writer.add_job_fact("program.jit_add", "arguments=8 outputs=4 aliased=0 temporaries=0 code=1");
  builder.writer.add_job_fact("program.jit_add", "arguments=16 outputs=8 aliased=0 temporaries=0 code=1");
  builder.writer.flush();
  const auto programs = find_executed_programs(builder.trace);
  ASSERT_EQ(programs.size(), 3U);
  EXPECT_EQ(programs[0].name, "jit_step");
  EXPECT_EQ(programs[0].needed_bytes(), 140U);
  EXPECT_EQ(programs[1].argument_bytes, 16U);
  EXPECT_EQ(programs[2].compiled, 2U);
  EXPECT_TRUE(find_job_facts(builder.trace).empty()) << "they are no settings";
}

TEST(ExecutedPrograms, WhatCannotBeReadIsLeftOut) {
  TraceBuilder builder;
  for (const char* value : {"", "arguments=1", "arguments=1 outputs=1 aliased=2 temporaries=0 code=0",
                            "arguments=-1 outputs=1 aliased=0 temporaries=0 code=0",
                            "arguments=99999999999999999999 outputs=1 aliased=0 temporaries=0 code=0",
                            "arguments=1x outputs=1 aliased=0 temporaries=0 code=0"})
    builder.writer.add_job_fact("program.p", value);
  builder.writer.flush();
  EXPECT_TRUE(find_executed_programs(builder.trace).empty());
}

}  // namespace
}  // namespace hbmscope
