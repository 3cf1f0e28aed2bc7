#!/bin/sh
# Everything, from nothing: corpus, tokenizer, training, export, evaluation, golden numbers.
# Training goes through seven mixtures of stories; README.md says why.
set -e
cd "$(dirname "$0")"
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=PASSIVE
export MALLOC_MMAP_THRESHOLD_=4294967296 MALLOC_TRIM_THRESHOLD_=8589934592  # memory is kept, not given back
python=${PYTHON:-/usr/bin/python3}
model=${MODEL:-../../models/nursery}
$python check_corpus.py
$python make_corpus.py data 120
$python train_tokenizer.py data/train.txt out/tokenizer.json 2048
$python make_corpus.py data/practice 50 5000000 practice
$python make_corpus.py data/gifts 24 6000000 gifts
$python make_corpus.py data/lessons 9 7000000 lessons
$python make_corpus.py data/owners 8 7500000 owners
$python make_corpus.py data/all 15 8000000 all
$python make_corpus.py data/last 11 8500000 last
{   #                     corpus        steps, over how many the rate falls, order of batches, start
    $python train.py data          out  668    0 1
    $python train.py data          out  804    0 2 out/model.pt
    $python train.py data/practice out  502    0 3 out/model.pt
    $python train.py data/gifts    out  211    0 4 out/model.pt
    $python train.py data/lessons  out  255    0 5 out/model.pt
    $python train.py data/owners   out  440    0 6 out/model.pt
    $python train.py data/all      out 1000  950 7 out/model.pt
    $python train.py data/last     out  700 1750 8 out/model.pt
    cp out/model.pt out/before.pt
    $python train.py data          out  600 2000 9 out/model.pt
} > out/train.log
$python average.py out/before.pt out/model.pt out/model.pt
$python export.py out "$model"
$python evaluate.py data "$model" > "$model/evaluation.txt"
$python goldens.py "$model" out/goldens
