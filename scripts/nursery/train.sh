#!/bin/sh
# Everything, from nothing: corpus, tokenizer, training, export, evaluation, golden numbers.
set -e
cd "$(dirname "$0")"
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=PASSIVE
export MALLOC_MMAP_THRESHOLD_=4294967296 MALLOC_TRIM_THRESHOLD_=8589934592  # memory is kept, not given back
python=${PYTHON:-/usr/bin/python3}
model=${MODEL:-../../models/nursery}
$python check_corpus.py
$python make_corpus.py data 120
$python train_tokenizer.py data/train.txt out/tokenizer.json 2048
$python train.py data out "${STEPS:-6000}" > out/train.log
$python export.py out "$model"
$python evaluate.py data "$model" > "$model/evaluation.txt"
$python goldens.py "$model" out/goldens
