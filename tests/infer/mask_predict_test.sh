#!/usr/bin/env bash
# Commands with a translator that fills in masks, and with its options.
# usage: mask_predict_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2317 # the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
lines() { [ "$(wc -l <out)" -eq "$1" ]; }
refused_option() { [ "$code" -ne 0 ] && quiet && complains "$1"; }

cat >masks.json <<'JSON'
{
  "model": {"generation": "mask_predict", "encoder_layers": 1, "decoder_layers": 1, "d_model": 32, "d_ff": 64,
            "heads": 2, "max_length": 64},
  "data": {"train": {"tsv": "train.tsv"}, "valid": {"tsv": "valid.tsv"}},
  "tokenizer": {"type": "bpe", "vocabulary": 96, "shared": true},
  "training": {"steps": 6, "max_length": 64, "source_tokens": 256, "target_tokens": 256, "warmup_steps": 3, "seed": 11,
               "validate_bleu": 2}
}
JSON
train_digits masks.json
model=trained/model
printf '1 7 4\n\n2 0\n9\n' >input.txt

run inspect --model "$model" --key generation
expect "inspect names how it writes" says mask_predict
run train masks.json --data data --output planned --dry-run
expect "a rehearsal has masks, too" ended_with 0

run translate --model "$model" input.txt
expect "one line for each" lines 4
expect "in good order" ended_with 0
cp out usual
run translate --model "$model" --iterations 10 --lengths 5 --batch-tokens 1 input.txt
expect "by default 10 iterations of 5 lengths, whatever the batch" same out usual
echo '{"iterations": 2, "lengths": 1}' >"$model/decoding.json"
run translate --model "$model" input.txt
cp out chosen
rm "$model/decoding.json"
run translate --model "$model" --iterations 2 --lengths 1 input.txt
expect "the model's author may choose" sh -c 'cmp -s out chosen && ! cmp -s chosen usual'
run translate --model "$model" --max-length 3 --min-length 2 --scores --stats input.txt
expect "the length has limits" ended_with 0
expect "scores stand before a tab" grep -qP '^-?\d+\.\d{4}\t' out
run evaluate --model "$model" --tsv data/test.tsv
expect "BLEU is measured" says BLEU
expect "but no perplexity of references" sh -c '! grep -qi perplexity out'
cp out usual
run evaluate --model "$model" --tsv data/test.tsv --json
expect "and says how it was written" sh -c "jq -e '.model | .iterations == 10 and .lengths == 5 and .beam == null' out >written"
run evaluate --model "$model" --tsv data/test.tsv --iterations 1 --lengths 2
expect "of other iterations and lengths, too" sh -c '! cmp -s out usual && grep -q BLEU out'

run translate --model "$model" --beam 2 input.txt
expect "--beam is refused" misused "--beam is for models that write from left to right"
run translate --model "$model" --greedy input.txt
expect "--greedy is refused" misused "--greedy is for models that write from left to right"
run translate --model "$model" --n-best 2 input.txt
expect "lists are refused" misused "--n-best is for models that write from left to right"
run translate --model "$model" --sample input.txt
expect "samples are refused" misused "--sample is for models that write from left to right"
run translate --model "$model" --prefix ein input.txt
expect "a prefix is refused" refused "a prefix is for translation models that write from left to right"
run translate --model "$model" --alignments input.txt
expect "alignments are refused" refused '"generation" is "mask_predict"'
run translate --model "$model" --model "$model" input.txt
expect "an ensemble is refused" refused "only one --model is possible"
echo '{"beam": 2}' >"$model/decoding.json"
run translate --model "$model" input.txt
expect "the author's beam is refused" refused 'decoding.json: "beam" is for models that write from left to right'
rm "$model/decoding.json"
run evaluate --model "$model" --tsv data/test.tsv --calibration drawn.svg
expect "a calibration is refused" misused "--calibration needs the probabilities of references"
run score --model "$model" --tsv data/test.tsv
expect "scores are refused" refused '"generation" is "mask_predict"'
run attention --model "$model" --text '1 7'
expect "attention is refused" refused '"generation" is "mask_predict"'
run compare --model "$model" --device cpu --with cpu:oracle input.txt
expect "comparing is refused" refused '"generation" is "mask_predict"'
run bench translate --model "$model" --sentences 1
expect "a benchmark of translating is refused" complains '"generation" is "mask_predict"'
for format in huggingface ctranslate2 marian; do
    run export "$model" --format $format --output exported
    expect "an export to $format is refused" refused '"generation" is "mask_predict"'
done

sed 's/"generation": "mask_predict", //; s/"steps": 6/"steps": 1/' masks.json >writes.json
run train writes.json --data data --output writes
run translate --model writes/model --iterations 2 input.txt
expect "--iterations is for models that fill in masks" misused "--iterations is for models that fill in masks"
run evaluate --model writes/model --tsv data/test.tsv --lengths 2
expect "--lengths is, too" misused "--lengths is for models that fill in masks"
run train <(sed 's/"heads": 2/"heads": 2, "decoder_mixer": "lstm"/' masks.json) --data data --output not
expect "a decoder that reads in one direction is refused" refused '"mixer.decoder" must be "self_attention" or'
run translate --model "$model" --iterations 0 input.txt
expect "0 iterations are refused" refused_option --iterations
finish "translators that fill in masks do as expected"
