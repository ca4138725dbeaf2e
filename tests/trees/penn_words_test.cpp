#include "trees/penn_words.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace headscope;
using Texts = std::vector<std::string>;

TEST_CASE("text is split into words by rules of the Penn Treebank", "[trees]") {
    CHECK(penn_words("The cat sleeps.") == Texts{"The", "cat", "sleeps", "."});
    CHECK(penn_words("  Dr. Smith of the U.S. didn't go, ") ==
          Texts{"Dr.", "Smith", "of", "the", "U.S.", "did", "n't", "go", ","});
    CHECK(penn_words("It's John's, isn't it?") == Texts{"It", "'s", "John", "'s", ",", "is", "n't", "it", "?"});
    CHECK(penn_words("\"Yes,\" he said...") == Texts{"``", "Yes", ",", "''", "he", "said", "..."});
    CHECK(penn_words("“So (at 5%)”.") == Texts{"``", "So", "-LRB-", "at", "5", "%", "-RRB-", "''", "."});
    CHECK(penn_words("IL-2(a) [b]") == Texts{"IL-2-LRB-a", "-RRB-", "-LRB-", "b", "-RRB-"});
    CHECK(penn_words("$5 for #1, US$ and C#") == Texts{"$", "5", "for", "#", "1", ",", "US$", "and", "C#"});
    CHECK(penn_words("I’m here, DON'T SAY it'S") == Texts{"I", "'m", "here", ",", "DO", "N'T", "SAY", "it", "'S"});
    CHECK(penn_words("the dogs' and dogs’ ‘tails’ `so'.") ==
          Texts{"the", "dogs", "'", "and", "dogs", "'", "`", "tails", "'", "`", "so", "'", "."});
    CHECK(penn_words("yes--or—no… or...") == Texts{"yes", "--", "or", "--", "no", "...", "or", "..."});
    CHECK(penn_words("I cannot go. Cannot?") == Texts{"I", "can", "not", "go.", "Can", "not", "?"});
    CHECK(penn_words("'tis 1,000 \"''a''\"") == Texts{"'tis", "1,000", "``", "''a", "''", "''"});
    CHECK(penn_words(". 's ...") == Texts{".", "'s", "..."});
    CHECK(penn_words(" \n").empty());
}
