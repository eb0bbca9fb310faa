#include "collector/wire/masked_arguments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "collector/wire/reported_variables.h"

namespace hbmscope::wire {
namespace {

// Arguments are separated by "|".
std::string masked(std::string text) {
  std::replace(text.begin(), text.end(), '|', '\0');
  text.resize(static_cast<std::size_t>(mask_arguments(text.data(), text.data() + text.size()) - text.data()));
  std::replace(text.begin(), text.end(), '\0', '|');
  return text;
}

TEST(MaskedArguments, values_of_options_whose_name_says_secret_are_hidden) {
  EXPECT_EQ(masked("train.py|--password=hunter2|--lr=3"), "train.py|--password=***|--lr=3");
  EXPECT_EQ(masked("train.py|--password|hunter2|--lr|3"), "train.py|--password|***|--lr|3");
  EXPECT_EQ(masked("--wandb-api-KEY|-abc|x"), "--wandb-api-KEY|***|x");
  EXPECT_EQ(masked("--HF_Token=a b=c"), "--HF_Token=***");
  EXPECT_EQ(masked("--client.secret.id=1"), "--client.secret.id=*");
  EXPECT_EQ(masked("env|WANDB_API_KEY=abcdef|python"), "env|WANDB_API_KEY=***|python");
  EXPECT_EQ(masked("-token=abcdef"), "-token=***");
  EXPECT_EQ(masked("--hftoken=abcdef|--api_keys|a,b"), "--hftoken=***|--api_keys|***");
}

TEST(MaskedArguments, secrets_in_addresses_headers_and_short_options_are_hidden) {
  EXPECT_EQ(masked("train.py|--store|https://me:hunter2@host:80/a@b"), "train.py|--store|https://me:***@host:80/a@b");
  EXPECT_EQ(masked("--url=s3://ab12cd@bucket"), "--url=s3://***@bucket");
  EXPECT_EQ(masked("curl|-H|Authorization: Bearer abc|x"), "curl|-H|Authorization: ***|x");
  EXPECT_EQ(masked("curl|-H|X-Api-Key: abc|-u|me:abc|x"), "curl|-H|X-Api-Key: ***|-u|***|x");
  EXPECT_EQ(masked("/usr/bin/sshpass|-p|hunter2|ssh|-p|22"), "/usr/bin/sshpass|-p|***|ssh|-p|22");
  EXPECT_EQ(masked("sh|-c|docker login -u me -p abcd; pip install https://t0k@h/x"),
            "sh|-c|docker login -u me -p *** pip install https://***@h/x");
  EXPECT_EQ(masked("sh|-c|curl -H 'Authorization: Bearer abc' 'https://a:b@c'"),
            "sh|-c|curl -H 'Authorization: ***' 'https://a:*@c'");
}

TEST(MaskedArguments, nothing_else_changes) {
  for (const char* text : {"",
                           "|",
                           "||",
                           "python|train.py|--lr=3",
                           "--key|--verbose",
                           "--key",
                           "--key|",
                           "--key=",
                           "--max-tokens=4096",
                           "--tokenizer|gpt2",
                           "--keyboard=us",
                           "python|-c|x = f(key=1)",
                           "sh|-c|echo 'it is'",
                           "key|value",
                           "git clone|ssh://git@host/a",
                           "https://host:80/a@b",
                           "mkdir|-p|folder",
                           "python|-u|train.py",
                           "docker|run|-p|80:80",
                           "a key: value"})
    EXPECT_EQ(masked(text), text);
}

TEST(MaskedArguments, a_command_inside_an_argument_is_masked_too) {
  EXPECT_EQ(masked("sh|-c|A=1 train --token abc --x 1|y"), "sh|-c|A=1 train --token *** --x 1|y");
  EXPECT_EQ(masked("sh|-c|cd x; MY_KEY=\"a b\" train --token='c d' e"), "sh|-c|cd x; MY_KEY=*** train --token=*** e");
  EXPECT_EQ(masked("sh|-c|train --token='c d"), "sh|-c|train --token=** d");
}

TEST(MaskedArguments, any_bytes_stay_inside_and_never_grow) {
  std::mt19937 source(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(source() % 60, ' ');
    const std::string letters("-=key tokn'\"\0\n:/@p", 18);
    for (char& one : text) one = letters[source() % letters.size()];
    std::string buffer = text + "after";
    const char* end = mask_arguments(buffer.data(), buffer.data() + text.size());
    ASSERT_LE(end, buffer.data() + text.size());
    ASSERT_EQ(buffer.substr(text.size()), "after");
  }
}

TEST(ReportedVariables, secrets_in_flags_are_masked) {
  std::string environment("XLA_FLAGS=--xla_a=1 --xla_kv_token=abc --xla_b=2\0JAX_PLATFORMS=cuda\0HF_TOKEN=x\0RANK=3\0",
                          86);
  std::string found, rank;
  find_reported_variables(
      environment.data(), environment.data() + environment.size(),
      [&](const ReportedVariable& variable, const char* value) {
        found += std::string(variable.name) + ": " + value + "\n";
      },
      [&](const char* digits) { rank = digits; });
  EXPECT_EQ(found, "XLA_FLAGS: --xla_a=1 --xla_kv_token=*** --xla_b=2\nJAX_PLATFORMS: cuda\n");
  EXPECT_EQ(rank, "3");
}

}  // namespace
}  // namespace hbmscope::wire
