#!/usr/bin/env bash
# The options of `headscope attention`, with the bundled model.
# usage: commands_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2317 # the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
export HEADSCOPE_MODEL=$repository/assets/models/en-de
holds() { [ -s out ] && jq -e "$1" out >/dev/null; } # jq accepts an empty file
look() { run attention --text 'The unbelievably small cat sleeps.' --layer 2 --heads 1 "$@" -o - --format json; }

look
expect "heads have one column per word" holds '.queries == ["The", "unbelievably", "small", "cat", "sleeps", ".", "<EOS>"]'
expect "weights add up to 1" holds 'all(.heads[0].weights[]; add - 1 | fabs < 1e-4)'
cp out usual
look --words
expect "words are the default" same out usual
look --precision f32
expect "float32 weights are the default" same out usual
look --pieces
expect "--pieces has one column per piece" holds '(.queries | length) > 7 and .queries[-1] == "<EOS>"'
look --no-special
expect "the end of sentence can be hidden" holds '.queries | index("<EOS>") == null'
expect "weights without special tokens add up to 1" holds '.renormalised and all(.heads[0].weights[]; add - 1 | fabs < 1e-4)'
look --position 2,4
expect "words can be chosen by column" holds '.chosen_queries == [1, 3]'
look --word cat
expect "words can be chosen by name" holds '.chosen_queries == [3]'
price() { run attention --text $'The caf\u00e9 costs 1,000 euros.' --layer 2 "$@" -o - --format json; }
for name in $'caf\u00e9' $'cafe\u0301' $'\uff43\uff41\uff46e\u0301'; do
    price --word "$name"
    expect "names match in any normal form" holds '.chosen_queries == [1]'
done
price --word '1,000'
expect "a name can contain an escaped comma" holds '.chosen_queries == [3]'
run attention --text 'It costs a\\b euros.' --layer 2 --word 'a\\b' -o - --format json
expect "a name can contain a backslash" holds '.chosen_queries == [2]'
price --find 'link=1\,000,'$'cafe\u0301' --rank 1
expect "a search can contain an escaped comma" complains "1,000 → cafe"
price --find 'link=1,000,euros'
expect "an unescaped comma is explained" misused "has 3 words" 'link=1\,000,euros'
look --words --pieces
expect "words and pieces exclude each other" misused "--pieces"

run attention --text 'The unbelievably small cat sleeps.' --layer 2 --heads 1 --json
expect "--json is -o - --format json" same out usual
expect "with a schema" holds '.schema == 1'
run attention --text 'The cat sleeps.' --all-heads --json
expect "records have it, too" holds '.schema == 1 and .version == 1 and (.sites | length) == 6'
run attention --text 'The cat sleeps.' --json --format svg
expect "--json excludes another format" misused "--json" "--format"
titled() { run attention --text 'The cat sleeps.' --layer 2 --title 'Cats & dogs' --caption 'en-de, layer 2' "$@"; }
titled -o titled.svg
expect "a picture can have a title and a caption of its own" \
    eval 'grep -q ">Cats &amp; dogs</text>" titled.svg && grep -q ">en-de, layer 2</text>" titled.svg && ! grep -q ">Input-Input Layer2<" titled.svg'
titled -o titled.pdf
expect "also as a PDF" [ "$(head -c 5 titled.pdf)" = %PDF- ]
titled
expect "a table has none" misused "--title and --caption are for a picture"

matrix() { run attention --text 'The cat sleeps.' --layer 2 --heads 1 --matrix "$@" -o -; }
matrix
expect "a head's map is drawn" says "<svg"
cp out linear
matrix --log
expect "a logarithmic scale changes the colours" not same out linear
run attention --text 'The cat sleeps.' --log
expect "a logarithmic scale needs --matrix" misused "--matrix"

for thing in key dog hat cat river boat; do
    printf 'Tom lost his %s.\tTom hat das verloren.\n' "$thing"
done >pairs.tsv
search() { run attention --corpus pairs.tsv "$@" -o - --format json; }
search --find anaphora
expect "with a schema" holds '.schema == 1'
expect "a corpus is searched for the head that knows what pronouns stand for" holds '.findings[0].sentences == 6 and .findings[0].questions == 3 and .findings[0].heads == 48'
expect "which is chosen by the other half" holds '.findings[0].chosen.rate == 1 and .findings[0].measured.rate == 1'
expect "and compared with baselines" holds '[.findings[0].baselines[] | .name] == ["previous word", "offset -2", "uniform"] and .findings[0].baselines[1].head_minus_baseline == 0'
search --find anaphora --limit 4
expect "--limit takes the first sentences" holds '.findings[0].sentences == 4'
search --find link=his,Tom --kind decoder
expect "a search without questions is explained" refused "link his, Tom: no sentence with a question"
cut -f1 pairs.tsv >texts.txt
run attention --corpus texts.txt --find all
expect "a rule without questions is said, and the others go on" \
    eval 'ended_with 0 && complains "long-distance: no sentence" && says "sentences with questions"'
run attention --corpus texts.txt --find anaphora
expect "encoder attention needs no translations" says "better than every baseline:"
run attention --corpus texts.txt --importance
expect "importance needs them" refused "texts.txt" "line 1" "found no TAB"
run attention --corpus pairs.tsv
expect "a corpus needs a question" misused "either --find or --importance"
run attention --corpus pairs.tsv --find anaphora=his
expect "rules for one sentence" misused "must be all, long-distance, anaphora"
run attention --corpus pairs.tsv --find anaphora --text Hello
expect "a corpus and a text" misused "--text"
run attention
expect "neither" misused "--text, --picture or --corpus"
search --importance --limit 4 --bleu 1
expect "heads are measured over a corpus" holds '.pairs_that_choose == 2 and .pairs_that_measure == 2 and (.heads | length) == 96'
expect "in nats and BLEU" holds 'all(.heads[]; .nll > 0 and .bleu >= 0) and .sentences_of_bleu == 1'
expect "pruning ends without heads" holds '.pruned[0].heads_left == 96 and .pruned[-1].heads_left == 0 and (.pruned_at_random | length) == 3'
expect "and costs nats" holds '.pruned[-1].nll > .pruned[0].nll + 1'

inside() { run attention --text 'The cat sleeps.' "$@" -o - --format json; }
inside --saliency
expect "saliency has a product for each pair of pieces" holds '(.of_source | length) == (.predicted | length) and (.of_source[0] | length) == (.source | length) and .predicted[-1] == "<EOS>"'
cp out plain
inside --saliency --steps 2
expect "integrated gradients differ" not same out plain
inside --lens --target 'Die Katze schläft.'
expect "a lens has the embedding and each layer" holds '(.layers | map(.layer)) == [range(0; .layers | length)] and .layers[0].site == "decoder.embedding" and (.layers[-1].positions[0].candidates | length) == 10'
expect "and the target is likely after the last one" holds '.layers[-1].positions | all(.probability > 0.2)'
inside --patch 'encoder.*.residual_out' --from 'The dog sleeps.' --position 2
expect "a patch for each layer" holds '(.effects | length) > 1 and all(.effects[]; .position == 2 and .piece == "▁cat" and .from == "▁dog" and .change < 0)'
run attention --text 'The cat sleeps.' --lens
expect "a lens is a table" says "layer 2"
run attention --text 'The cat sleeps.' --saliency
expect "saliency is a table" says "gradient times embedding"
run attention --text 'The cat sleeps.' --patch encoder.norm --from 'The dog sleeps.'
expect "patching is a table" says "change of log P"
run attention --text 'The cat sleeps.' --lens --least 0.3 -o lens.svg
expect "which has no lines to leave out" misused "--least"
run attention --text 'The cat sleeps.' --saliency --top 1 -o saliency.svg
expect "nor has saliency" misused "--top"
run attention --text 'It is unbelievable.' --saliency -o words.svg
run attention --text 'It is unbelievable.' --saliency --pieces -o pieces.svg
expect "a picture of saliency has words or pieces" eval 'ended_with 0 && grep -q ">unbelievable<" words.svg && ! grep -q ">unbelievable<" pieces.svg'
run attention --text 'It is unbelievable.' --saliency --pieces
expect "text has pieces in any case" misused "--pieces" "picture"
run attention --text 'The cat sleeps.' --lens --layer 2
expect "a lens has all layers" misused "--layer"
run attention --text 'The cat sleeps.' --lens --saliency
expect "one question at a time" misused "--saliency"
run attention --text 'The cat sleeps.' --patch encoder.norm
expect "a patch needs another text" misused "--from"
run attention --text 'The cat sleeps.' --patch encoder.nrm --from 'The dog sleeps.'
expect "an unknown site is explained" refused "encoder.nrm" "encoder.norm"
run attention --text 'The cat sleeps.' --saliency --precision i8
expect "saliency needs float32" refused "f32"

# The page of all heads; tests/figures/page_test.py opens it in a browser.
data() { sed -n 's/.*id="data">\(.*\)<\/script>$/\1/p' "$1"; }
has() { data "$1" | jq -e "$2" >/dev/null; }
run attention --text 'The cat sleeps.' --page -o heads.html
expect "a page has every head of all kinds" \
    has heads.html '[.kinds[] | [.kind, (.layers | length), (.layers[0].heads | length)]] == [["encoder", 6, 8], ["decoder", 3, 8], ["cross", 3, 8]]'
expect "and its queries and keys" has heads.html '(.neurons | length) == 96 and all(.neurons[]; .d_k == 32)'
expect "words are joined at first" has heads.html '.join_words and .kinds[0].keys.words[0] == ["The", 0, 1]'
run attention --text 'The cat sleeps.' --page -o - --format html
expect "also on standard output" same out heads.html
run attention --text 'The cat sleeps.' --page --pieces --title 'A <cat>' --caption 'en-de' --palette okabe-ito -o titled.html
expect "with a title, a caption and colours of its own" \
    eval 'grep -q "<h1>A &lt;cat&gt;</h1>" titled.html && has titled.html ".caption == \"en-de\" and (.join_words | not) and .colours.light.heads[0] == \"#0072b2\""'
run attention --text 'The cat sleeps.' --target 'Die Katze.' --pads 2 --page -o padded.html
expect "of a given target, with pads" has padded.html '.kinds[0].keys.pieces[-1][0] == "<pad>" and .kinds[2].queries.words[1][0] == "Katze"'
run attention --text 'The cat sleeps.' --pads 2 --page -o padded.html
expect "pads need a target" misused "--pads with --page needs --target"
run attention -m "$repository/assets/models/en-causal" --text 'The weather' --page -o causal.html
expect "of a prompt" has causal.html '[.kinds[].kind] == ["decoder"] and (.neurons | length) == 24'
run attention -m "$repository/assets/models/en-causal" --text 'The weather' --max-tokens 5 --page -o continued.html
pieces_in() { data "$1" | jq '.kinds[0].keys.pieces | length'; }
expect "and its continuation" [ "$(pieces_in continued.html)" -gt "$(pieces_in causal.html)" ]
run attention -m "$repository/assets/models/en-masked" --text 'The [MASK] sleeps.' --page -o masked.html
expect "and of a text with a mask" has masked.html '[.kinds[].kind] == ["encoder"] and (.kinds[0].keys.words | map(.[0]) | index("[MASK]")) != null'
for name in heads.svg heads.json heads; do
    run attention --text 'The cat sleeps.' --page -o $name
    expect "a page is no $name" misused "$([ $name = heads ] && echo "unknown format" || echo "give -o FILE.html")"
done
run attention --text 'The cat sleeps.' --page
expect "a page needs a file" misused "give -o FILE.html"
for other in '--kind cross' '--layer 2' '--heads 1' '--find structure' '--word cat' '--position 1' --class-token --no-special --matrix --all-heads \
    --saliency --lens --overview '--least 0.1' '--top 1' --numbers --probabilities '--theme dark' '--text-size 12' '--scale 1'; do
    # shellcheck disable=SC2086 # an option and its value
    run attention --text 'The cat sleeps.' --page $other -o other.html
    expect "a page has everything, so $other is refused" misused "--page" "${other%% *}"
done
run attention --text 'The cat sleeps.' --page --json
expect "and is no JSON" misused "--page" "--json"
run attention --corpus pairs.tsv --page -o corpus.html
expect "nor of many sentences" misused "--page" "--corpus"

run attention -m "$repository/assets/models/en-causal" --find induction -o - --format json
expect "heads of induction are looked for in random words that stand twice" eval 'complains "random words twice: " && complains "from repeated tokens on what followed them before"'
run attention -m "$repository/assets/models/en-causal" --all-heads --sort induction
expect "and every head has a score" eval 'says "induction  duplicate" && [ "$(wc -l <out)" -gt 8 ]'
run attention -m "$repository/assets/models/en-causal" --find induction --text ''
expect "an empty text is no missing one" misused "--text is empty"
run attention --find induction
expect "which a translation model cannot read" refused "give a text that repeats itself"
run attention -m "$repository/assets/models/en-causal" --all-heads --sort entropy
expect "other orders need a text" misused "--text, --picture or --corpus is required"

run view --text 'The cat sleeps.' --panel heads --precision f32 --render heads.json
expect "a panel is rendered without a window" [ -s heads.json ]

finish "the commands do as expected"
