#!/usr/bin/env bash
# headscope complete, fill and attention as a user meets them, on language models trained for a few steps.
# usage: language_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2317 # the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
lines() { [ "$(wc -l <out)" -eq "$1" ]; }
line_is() { [ "$(sed -n "$1p" out)" = "$2" ]; }
begins_with() { grep -q "^$1" out; }
differs() { ! same "$1" "$2"; }
holds() { [ -s out ] && jq -se "$1" out >/dev/null; } # jq accepts empty input

for i in 1 2 3 4 5 6 7 8; do
    printf '%s\n' "the small dog sleeps." "a big cat sees the small dog." "the big cat sleeps." "a small dog sees a cat."
done >text.txt
for task in causal masked; do
    cat >$task.json <<JSON
{
  "task": "$task",
  "model": {"d_model": 32, "d_ff": 64, "heads": 2, "max_length": 64, "norm": "pre"},
  "data": {"train": {"text": "text.txt"}},
  "tokenizer": {"type": "bpe", "vocabulary": 48},
  "training": {"steps": 60, "max_length": 32, "source_tokens": 256, "target_tokens": 256, "warmup_steps": 20,
               "learning_rate_scale": 0.5, "residual_dropout": 0.0}
}
JSON
    run train $task.json --output $task --device cpu
    expect "a $task language model is trained" ended_with 0
done

sed 's/"task": "masked"/"task": "span"/' masked.json >span.json
run train span.json --output span --device cpu
expect "a span model is trained" ended_with 0
run tokenize --model span --text 'the <extra_id_0> sleeps.'
expect "whose sentinels are pieces of a text" grep -qF ' <extra_id_0> ' out
run fill --model span --device cpu 'the <extra_id_0> sleeps.'
expect "and are filled in" eval 'ended_with 0 && grep -q "^the.*sleeps\.$" out'
run fill --model span --device cpu --json --top 2 'the [MASK] sleeps.'
expect "as masks are" holds 'all((.masks | length) == 1 and (.masks[0][0] | has("pieces")))'
run fill --model span --device cpu --one-by-one 'the [MASK] sleeps.'
expect "in one pass" misused "--one-by-one"
run fill --model span --device cpu 'the dog sleeps.'
expect "if there is one" refused "has no [MASK] and no <extra_id_0>"
run attention --model span --device cpu --text 'the [MASK] sleeps.' --kind cross --json
expect "how a gap is filled can be seen: what writes it" holds 'all(.queries[0] == "<extra_id_0>" and .query_probabilities[0] > 0)'
expect "and the gap, which is a word of its own" holds 'all(.keys[:2] == ["the", "<extra_id_0>"])'
run attention --model span --device cpu --text 'the <extra_id_0> sleeps.' --kind decoder --layer 1 -o gap.svg
expect "in the decoder, too, and with the model's own mark" grep -q '&lt;extra_id_0&gt;' gap.svg
run attention --model span --device cpu --text 'the [MASK] sleeps.' --lens
expect "with what each layer would write" says "<extra_id_0>"
for words in {the,a}\ {small,big,small\ small,big\ big}\ {dog,cat}\ {sleeps,sees\ {the,a,a\ small,a\ big}\ {dog,cat}}; do
    animal=${words%% s[el]e*}
    echo "$words." >>sentences.txt && echo "${animal##* }" >>animals.txt
done
run train --from span --source sentences.txt --target animals.txt --steps 200 --learning-rate 0.01 --output tuned --device cpu
expect "a span model can be fine-tuned to a task, such as naming a class" complains "143 pairs for training, 1 for validation; left out: 0 that share"
run translate --model tuned --device cpu sentences.txt
expect "which it then does" same out animals.txt
run evaluate --model span --device cpu --text text.txt
expect "it is evaluated by the spans of a text" says "of hidden spans"
run evaluate --model span --device cpu --text text.txt --json
expect "of which bits per byte are not defined" holds 'all(.measure == "span_log_probability" and (has("bits_per_byte") | not))'

for task in causal masked span; do
    run calibrate --model $task --device cpu --text text.txt --documents line --json
    expect "a $task model is calibrated with a text" holds 'all(.after.nll <= .before.nll + 1e-9 and .tokens > 0)'
done

# Several devices.
for i in 1 2 3 4 5 6 7 8; do
    cat text.txt
done >many.txt
tr '\n' ' ' <many.txt >long.txt
for task in causal masked span; do
    expect "two devices share the documents of a $task model" shares smoothed_cross_entropy evaluate --model $task --text many.txt --batch-tokens 8
    expect "and the blocks of a long one" shares smoothed_cross_entropy evaluate --model $task --text long.txt --batch-tokens 8
done
for task in causal masked; do
    expect "and the lines that a $task model scores" shares smoothed_cross_entropy score --model $task --text many.txt --batch-tokens 8
done

# The bundled models, which are the defaults.
echo 'The children were playing in the park.' >park.txt
run score --text park.txt
expect "a text is scored by the bundled language model" eval 'ended_with 0 && grep -qE "^-[0-9.]+" out'
run evaluate --text park.txt
expect "and evaluated" says "per word"
run evaluate
expect "evaluate without a text says what a language model needs" complains "of a language model --text FILE"
run bench complete --config masked
expect "a masked model generates nothing to time" complains "a masked one writes no text, use headscope bench train"
for device in cpu vulkan; do
    grep -q "^$device" <("$headscope" devices --usable) || continue
    run complete --device $device 'Could you please'
    expect "the bundled model completes on $device" line_is 1 "Could you please tell me what's going on here?"
    run complete --device $device --stop " tell me what's going on here#" 'Could you please'
    expect "after one prompt, though all may begin a stop text" line_is 1 "Could you please tell me what's going on here?"
    run fill --device $device 'She opened the [MASK] and looked outside.'
    expect "the bundled model fills in on $device" line_is 1 "She opened the door and looked outside."
done
run fill --device cpu 'The 猫 [MASK].'
expect "a text keeps what the vocabulary lacks" begins_with 'The 猫 *[a-z]*\.$'
expect "with a note" complains "the text has characters that are not in the model's vocabulary"
run fill --device cpu --json '猫 [MASK]'
expect "in JSON, too" holds '.[0].filled | startswith("猫")'

for i in $(seq 40); do printf 'the small dog %s\nsleeps.\n\n' "$i"; done >paragraphs.txt
run train --text paragraphs.txt --documents paragraph --output paragraphs --steps 2 --device cpu
expect "documents may have several lines" complains "38 documents for training"
run make-task brackets --output brackets --lines 30 --valid 2 --test 2 --seed 3
expect "made brackets have a seed" ended_with 0
run make-task cloze --output cloze --lines 30 --valid 2 --test 2 --seed 3
expect "so have made clozes" ended_with 0

# ---------------------------------------------------------------------------------------------- complete
run complete --model causal --device cpu "the small dog"
expect "one line" lines 1
expect "begins with the prompt" begins_with "the small dog"
cp out alone
printf 'a big cat\n\nthe small dog\n' >prompts.txt
run complete --model causal --device cpu --file prompts.txt
expect "each line is a prompt, an empty one too" lines 3
sed -n 3p out >third
expect "which is completed as it is alone" same third alone
cp out piped
run complete --model causal --device cpu <prompts.txt
expect "standard input is read like a file" same out piped
run complete --model causal --device cpu ""
sed -n 2p piped >second
expect "an empty argument is an empty prompt" same out second
run complete --model causal --device cpu --precision f32 --max-tokens 1 --json "the small dog"
expect "a limit of one token" grep -q '"tokens":\["[^"]*"\]' out
expect "says why it ended" grep -qE '"end":"(limit|end)"' out
completion=$(sed 's/^the small dog//' alone)
stop=${completion: -1}
run bench complete --model causal --sentences 1 --target-length 4 --repeat 1 --device cpu --json
expect "its speed is measured" holds 'all(.bench == "complete" and .d_model == 32 and .decoder_layers > 0)'
run complete --model causal --device cpu --stop "$stop" "the small dog"
expect "a stop text is not part of the completion" line_is 1 "the small dog${completion%%"$stop"*}"
stop=${completion: -2}
run complete --model causal --device cpu --stop "$stop" --stop "${stop:1:1}#" "the small dog"
expect "nor is its beginning written" line_is 1 "the small dog${completion%%"$stop"*}"
run complete --model causal --device cpu --stop "" "the"
expect "an empty stop text" misused "--stop: must not be empty"
run complete --model causal --device cpu "the [MASK] dog"
expect "a mask in a prompt is only characters" complains "reads [MASK] as characters; to fill it in, use headscope fill"
printf 'the\na [MASK]\n[MASK]\n' | run complete --model causal --device cpu
expect "which is reported once" [ "$(grep -c 'headscope fill' err)" -eq 1 ]
"$headscope" complete --model causal "the 猫" >both 2>&1
expect "a note on unknown characters follows the line" [ "$(tail -n 1 both | grep -c "^headscope: .* vocabulary")" -eq 1 ]
expect "which is in one piece" grep -qxF "$("$headscope" complete --model causal "the 猫" 2>err)" both
printf 'the 猫\nthe\n' | run complete --model causal --device cpu --sample --samples 2
expect "lines with unknown characters are counted" complains "1 of 2 prompts contain characters missing"
run complete --model causal --device cpu --beam 4 --n-best 3 --no-repeat-ngram 2 "the"
expect "as many completions as asked for" lines 3
run complete --model causal --device cpu --beam 4 --n-best 2 --n-best-duplicates --length-penalty 1 \
    --length-penalty-form power --min-length 7 --max-length 20 --force-end --allow-unknown --batch-tokens 8 --json "the"
expect "a completion has the options of a translation" holds '.[0].n_best | length == 2 and all(.tokens | length >= 7)'
run complete --model causal --device cpu --max-tokens 0 "the"
expect "but at least one token" misused "--max-tokens must be 1 or more"
run complete --model causal --device cpu --source-language eng "the"
expect "and no source" misused 'has no option "--source-language"'
cp -r causal/model chosen
echo '{"max_factor": 2}' >chosen/decoding.json
run complete --model chosen --device cpu "the"
expect "also by its author" refused 'chosen/decoding.json: "max_factor" is for translation models, but this is a causal language model'
echo '{"beam": 4, "max_length": 6, "repetition_penalty": 1000}' >chosen/decoding.json
run complete --model chosen --device cpu --json "the"
expect "the author's options are defaults" holds '.[0].tokens | length <= 5 and length == (unique | length)'
run complete --model chosen --device cpu --json --max-tokens 12 --beam 1 --repetition-penalty 1 --early-stopping false "the"
cp out given
run complete --model causal --device cpu --json --max-tokens 12 "the"
expect "which the given ones replace" same out given
run complete --model chosen --device cpu "the cat sees the dog and the cat"
expect "a prompt that leaves no room" refused "\"max_length\" of the model's author is 6" "--max-tokens"
run complete --model causal --device cpu --sample --temperature 1.5 --top-k 40 --top-p 0.99 --samples 3 --seed 7 "the"
expect "as many samples as asked for" lines 3
cp out first
sampled=(complete --model causal --device cpu --sample --temperature 1.5 --top-k 40 --top-p 0.99 --samples 3)
run "${sampled[@]}" --seed 7 "the"
expect "the same from the same seed" same out first
printf 'the\n' | run "${sampled[@]}" --seed 7
expect "and from a file" same out first
run "${sampled[@]}" --seed 7 --json "the"
expect "all from the same line" holds 'map(.line) == [1, 1, 1]'
run "${sampled[@]}" --seed 8 "the"
expect "others from another" differs out first

run complete --model causal --device cpu --sample --temperature 1.5 --min-p 0.01 --samples 3 --seed 7 "the"
expect "fewer tokens are sampled from" lines 3

run complete --model causal --device cpu --samples 2 "the"
expect "samples need sampling" complains "--samples needs --sample"
run complete --model causal --device cpu "$(printf 'a b %.0s' {1..60})"
expect "a prompt longer than the context" refused "the model's context has 64: shorten the prompt"
printf 'caf\xe9\nthe\n' | run complete --model causal --device cpu
expect "a prompt that is not UTF-8" complains "line 1: "
expect "leaves the others alone" lines 2
expect "and is an error" complains "1 of 2 prompts were not completed"

# ---------------------------------------------------------------------------------------------- fill
run fill --model masked --device cpu --top 3 "the [MASK] dog."
expect "a line with the text and one for each word" lines 4
expect "with its probability" grep -qE '^ +[0-9]+\.[0-9] %  ' out
run fill --model masked --device cpu --precision f32 --json --one-by-one --mask _ "the _ _."
expect "another mask, one by one" grep -q '"masks":\[\[.*\],\[' out
run fill --model masked --device cpu --mask "" "the dog."
expect "an empty mask" misused "--mask: must not be empty"
run fill --model masked --device cpu "the dog."
expect "a text without a mask" complains "'the dog.' has no [MASK]: put it where a word is to be filled in"

# ---------------------------------------------------------------------------------------------- score, evaluate
near() { jq -ne "($1) - ($2) | fabs < 1e-4" >/dev/null; }
sum_of() { jq -s "map($1) | add" scored; }
value_of() { jq "$1" out; }
last_is_scored() { lines 4 && [ -n "$(sed -n 4p out)" ]; }
printf 'the small dog sleeps.\na big cat sees the small dog.\n' >lines.txt # 50 bytes, 11 words
run complete --model causal --device cpu --max-tokens 6 --json "the small"
expect "a completion has a confidence" holds 'all(.[]; (.confidence | log) - .log_probability / (.tokens | length) | fabs < 1e-6)'
expect "and words" holds 'all(.[]; (.words | map(.word) | join(" ")) == (.completion | ltrimstr(" ")))'
run complete --model causal --device cpu --max-tokens 6 "the small"
cp out completed
run complete --model causal --device cpu --max-tokens 6 --least-confidence 1 --word-probabilities "the small"
expect "which can be doubted" grep -qP '^\(unsure\) the small.* \|\|\|( [01]\.\d{4})+$' out
expect "and is otherwise the same" eval 'sed "s/^(unsure) //; s/ |||.*//" out | cmp -s - completed'
printf 'the small\nthe dog\n' >two.txt
run complete --model causal --device cpu --max-tokens 6 --least-confidence 1 --unsure leave-out --file two.txt
expect "or left out" eval '[ "$(grep -c . out)" -eq 0 ] && complains "2 of 2 completions have a confidence below 1: they are left out"'
run score --model causal --device cpu --text lines.txt --json
cp out scored
expect "each line has the probability of its tokens" \
    holds 'length == 2 and all((.log_probability - (.tokens | map(.log_probability) | add) | fabs) < 1e-9)'
expect "up to its end" holds 'all(.tokens[-1].token == "</s>" and .text != null and .source == null)'
run score --model causal --device cpu --text lines.txt
cp out together
head -n 1 lines.txt | "$headscope" score --model causal --device cpu --text - >first_line
head -n 1 together | cmp -s first_line -
expect "a line is scored as it is alone" [ $? -eq 0 ]
run score --model causal --device cpu --text lines.txt --batch-tokens 1 --stats
expect "whatever its batch" same out together
expect "totals are those of texts" complains "2 texts, "
sum=$(sum_of .log_probability)
run evaluate --model causal --device cpu --text lines.txt --json
expect "a text has the same probability" near "-$(value_of '.nll * .tokens')" "$sum"
expect "documents are counted" holds 'all(.documents == 2 and .words == 11 and .bytes == 50 and .tokens == .pieces + 2)'
expect "perplexity per piece" near "$(value_of .perplexity)" "-($sum) / $(value_of .tokens) | exp"
expect "per word" near "$(value_of '.perplexity_per_word | log')" "-($sum) / 11"
expect "and bits per byte" near "$(value_of .bits_per_byte)" "-($sum) / 50 / (2 | log)"
run evaluate --model causal --device cpu --text lines.txt --batch-tokens 1 --documents paragraph --precision f32
expect "the lines of a paragraph are one document" says "1 document, "
expect "perplexities are printed" grep -qE '^perplexity  [0-9.]+ per word' out
expect "with the calibration" says "calibration error "
run score --model masked --device cpu --text lines.txt --json
cp out scored
expect "a masked model gives pseudo-log-likelihoods" \
    holds 'all(.pseudo_log_likelihood < 0 and .log_probability == null and .tokens[-1].token != "</s>")'
run evaluate --model masked --device cpu --text lines.txt --json
expect "of all pieces, each masked once" holds 'all(.measure == "pseudo_log_likelihood" and .tokens == .pieces)'
expect "the same for a text" near "-$(value_of '.nll * .tokens')" "$(sum_of .pseudo_log_likelihood)"
run evaluate --model masked --model masked --device cpu --text lines.txt
expect "masked models can be averaged" says "each masked once and predicted from all others"
if grep -qx vulkan:0 <("$headscope" devices --usable); then
    for task in causal masked; do
        run evaluate --model $task --device cpu --text lines.txt --json
        on_cpu=$(value_of .nll)
        run evaluate --model $task --device vulkan --text lines.txt --json
        expect "a GPU gives the same $task perplexity" near "$(value_of .nll)" "$on_cpu"
    done
fi
run evaluate --model causal --device cpu --text - </dev/null
expect "a text without documents is an error" refused "standard input has no document to evaluate"
printf '%s\n' '' "$(printf 'a b %.0s' {1..60})" "$(printf 'caf\xe9')" 'the' >bad.txt
for task in causal masked; do
    run score --model $task --device cpu --text bad.txt
    expect "a line longer than the context has no $task score" complains "but the model takes at most 64"
    if [ $task = masked ]; then expect "an empty line has no piece to mask" complains "line 1: the text is empty"; fi
    expect "nor has one that is not UTF-8" complains "line 3: the text: the text is not UTF-8"
    expect "the others have" last_is_scored
    run evaluate --model $task --device cpu --text <(printf 'a b %.0s' {1..60})
    expect "but a document is cut into blocks" says "1 document, "
done

# ---------------------------------------------------------------------------------------------- compare
run compare --model causal --device cpu --with cpu:oracle --max-extra 8 --json prompts.txt
expect "completions of two devices are equal" holds 'all(.agrees and .devices[0].identical == 3)'
expect "and what is inside" holds 'all(.devices[0].inside | .sentences == 3 and .largest_difference_of_logits < 1e-3)'
printf 'the [MASK] dog [MASK]\n\n[MASK] cat.\n' >masks.txt
run compare --model masked --device cpu --with cpu:oracle masks.txt
expect "filled masks, too" says "cpu and cpu:oracle fill in 2 of 2 sentences identically"
expect "a line without a mask is reported" complains "sentence 2: '' has no [MASK]"
# ---------------------------------------------------------------------------------------------- attention
of_causal() { run attention --model causal --device cpu --text "the small dog" "$@"; }
of_masked() { run attention --model masked --device cpu --text "the [MASK] dog." "$@"; }
no_translation_words() { ! grep -qiE 'source|target|encoder|decoder|input|output|translat' "$1"; }

of_causal
expect "the heads of a prompt" says "Self-Attention Layer5: the strongest key of each head"
expect "in words" grep -qE '^dog  ' out
expect "of which the first sees itself only" grep -qE '^<BOS>  <BOS> 1\.00  <BOS> 1\.00$' out
expect "without the words of translation" no_translation_words out
expect "without a continuation" lines 6
of_causal --max-tokens 3
cp out continued
expect "its greedy continuation on request" grep -qE '^small  ' continued
run complete --model causal --device cpu --max-tokens 3 "the small dog"
run attention --model causal --device cpu --text "$(cat out)"
expect "which is the one that complete writes" same out continued
of_causal --layer 1 --heads 2 --word dog -o figure.svg
expect "a figure" grep -qF "Self-Attention Layer1" figure.svg
of_causal --all-heads
expect "every head's statistics" says "ends"
of_causal --all-heads -o - --format json
expect "the record as JSON" says '"architecture":"causal-lm"'
expect "with one text" [ "$(grep -cE '"(source|target)' out)" -eq 0 ]
of_causal --find link=dog,small --best 2 --pieces
expect "a search for heads" complains "dog → small"
of_masked --word '[MASK]'
expect "the heads of a text with a mask" grep -qE '^\[MASK\]  ' out
of_masked -o mask.svg
expect "a mask is a word" grep -qF '>[MASK]</text>' mask.svg
of_masked --layer 1 --heads 1 --matrix
expect "one head as numbers" lines 7
of_masked --all-heads -o - --format json
expect "a mask has a kind of its own" says '{"text":"[MASK]","kind":"mask"}'

of_causal --kind cross
expect "a language model has no cross-attention" refused "the model has no cross attention"
of_masked --kind decoder
expect "and one kind of self-attention" refused "the model has no decoder attention"
of_causal --target "a cat"
expect "no target" misused "--target does not apply to this model: it is a causal language model"
of_causal --pads 2
expect "no pads" misused "--pads does not apply"
of_causal --beam 2
expect "no beam without a continuation" misused "--beam needs --max-tokens"
of_masked --max-tokens 2
expect "a masked model continues nothing" misused "it is a masked language model"
run attention --model causal --device cpu --text "$(printf 'a b %.0s' {1..60})"
expect "a text longer than the context" refused "but the model takes at most 64: shorten it"
run attention --model masked --device cpu --text ""
expect "an empty text" misused "--text is empty"

# ---------------------------------------------------------------------------------------------- the wrong model
run complete --model masked "the"
expect "a masked model does not complete" complains "use headscope fill"
run fill --model causal "the [MASK]"
expect "a causal one does not fill in" complains "is a causal language model: use headscope complete"
run complete --model causal --model masked "the"
expect "families do not mix" refused "causal language model, but 'masked/model' is a masked language model"
run translate --model causal <prompts.txt
expect "nor translate" complains "is a causal language model: use headscope complete"

run score --model causal --source lines.txt --target lines.txt
expect "it scores --text" misused "causal/model is a causal language model: give --text FILE"
run evaluate --model masked --source lines.txt --reference lines.txt
expect "which evaluate needs, too" misused "masked/model is a masked language model: give --text FILE"
run evaluate --model "$repository/assets/models/en-de" --text lines.txt
expect "but not for a translation model" misused "is a translation model: give sentences and their translations"
run evaluate --model causal --text lines.txt --beam 4
expect "options of translations are rejected" complains "--beam excludes --text"
finish "language models complete, fill in, score and compare"
