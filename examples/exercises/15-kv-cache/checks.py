"""What is looked at in exercise 15."""

import numpy as np

from minigrad.coursework import Check, Exercise, Failure, Text, as_the_reference, attempt, unchanged
from minigrad.coursework.values import Foreign, Raised, difference

CHUNKS = [(6,), (1, 1, 1, 1, 1, 1), (3, 3), (2, 1, 3)]
LONGER = [(9,), (2, 7), (5, 1, 3)]


def arrays(rng, d_k, d_v, batch=(), length=6):
    """Queries, keys and values."""
    return [rng.normal(size=(*batch, length, d)) for d in (d_k, d_k, d_v)]


def parts(chunks, *inputs):
    """The inputs, chunk by chunk."""
    ends = np.cumsum(chunks)[:-1]
    return list(zip(*[np.split(x, ends, axis=-2) for x in inputs], strict=True))


def setups(rng):
    """One head, two heads, more positions, and two axes in front, by their shapes; ways to cut."""
    return [
        (f"key {key.shape}, value {value.shape}", (query, key, value), ways)
        for (query, key, value), ways in (
            (arrays(rng, 2, 5), CHUNKS),
            (arrays(rng, 3, 2, (2,)), CHUNKS),
            (arrays(rng, 3, 3, length=9), LONGER),
            (arrays(rng, 2, 5, (2, 3)), CHUNKS[2:]),
        )
    ]


EMPTY = "len(KVCache())"
OTHER = "one = KVCache(); other = KVCache(); one.append(key, value); len(other)"


def separate(module, rng):
    """Whether one cache grows with another."""
    found = {}

    def grown():
        one, other = module.KVCache(), module.KVCache()
        one.append(np.ones((2, 3)), np.ones((2, 2)))
        return [len(other)]

    attempt(found, [EMPTY], module, lambda: [len(module.KVCache())])
    attempt(found, [OTHER], module, grown)
    return found


def judge_separate(observed, right):
    """0 is no."""
    bad = as_the_reference(observed, right)
    if bad is None or bad.key == EMPTY or isinstance(observed.get(bad.key), Raised):
        return bad
    return Failure(bad.key, Text("one cache grows with another", "一个缓存随另一个缓存增长"))


def stored(module, rng):
    """What is kept after some positions were added."""
    found = {}
    for name, (_, key, value), ways in setups(rng):
        for chunks in ways:
            for what, read in READ.items():

                def fill(key=key, value=value, chunks=chunks, read=read):
                    cache = module.KVCache()
                    for k, v in parts(chunks, key, value):
                        cache.append(k.copy(), v.copy())
                    return [read(cache)]

                attempt(found, [f"{name}, n = {chunks}: {what}"], module, fill)

        def turns(key=key, value=value, chunks=ways[-1]):
            one, other = module.KVCache(), module.KVCache()
            for k, v in parts(chunks, key, value):
                one.append(k.copy(), v.copy())
                other.append(-k, -v)
            return [read(cache) for cache in (one, other) for read in READ.values()]

        keys = [f"{name}, two in turns, {cache}: {what}" for cache in "12" for what in READ]
        attempt(found, keys, module, turns)
    return found


READ = {
    "keys": lambda cache: getattr(cache, "keys", None),
    "values": lambda cache: getattr(cache, "values", None),
    "len(cache)": len,
}


def copies(module, rng):
    """The caller goes on using its arrays: for the first chunk and for the second."""
    found = {}
    for name, (_, key, value), _ in setups(rng):
        chunks = (2, key.shape[-2] - 2)

        def fill(key=key, value=value, chunks=chunks):
            cache, seen = module.KVCache(), []
            for k, v in parts(chunks, key, value):
                own = k.copy(), v.copy()
                cache.append(*own)
                for x in own:
                    x[:] = 7.0
                seen += [cache.keys.copy(), cache.values.copy()]
            return seen

        keys = [f"{name}, n = {n}: {what}" for n in ((2,), chunks) for what in ("keys", "values")]
        attempt(found, keys, module, fill)
    return found


def empty(module, rng):
    """What a cache has before the first position."""
    found = {}
    for what in ("keys", "values"):

        def read(what=what):
            kept = getattr(module.KVCache(), what)
            return [Foreign("None") if kept is None else kept]

        attempt(found, [f"KVCache().{what}"], module, read)
    return found


def judge_copies(observed, right):
    """What was added does not change with the caller's array."""
    bad = as_the_reference(observed, right)
    if bad is None or isinstance(observed.get(bad.key), Raised):
        return bad
    en = f"{bad.key} change when the caller writes into its arrays: keep a copy"
    zh = f"{bad.key} 随调用者改写自己的数组而改变：应保存副本"
    return Failure(bad.key, Text(en, zh))


def asked(module, rng):
    """The masks after each chunk of each way of cutting, and at last for every other n."""
    found = {}
    for chunks in (*CHUNKS, *LONGER):
        inputs = rng.normal(size=(2, sum(chunks), 3))

        def made(chunks=chunks, inputs=inputs):
            cache, seen = module.KVCache(), []
            for k, v in parts(chunks, *inputs):
                cache.append(k, v)
                seen.append(cache.mask(k.shape[-2]))
            return seen + [cache.mask(n) for n in others(chunks)]

        asks = [*zip(chunks, np.cumsum(chunks), strict=True), *[(n, 6) for n in others(chunks)]]
        names = [f"n = {chunks}: mask({n}), N = {end}" for n, end in asks]
        attempt(found, names, module, made)
    return found


def others(chunks):
    """What else a mask is asked for, after one of the ways of cutting."""
    return [1, 2, 4, 5, 6] if chunks == CHUNKS[-1] else []


TRUTHS, NUMBERS, ADDED = 0.0, 1.0, 2.0


def derive_kinds(observed, right):
    """Whether a mask is made of truth values, of 0 and 1, or of what is added to scores.

    Numbers of another shape are no mask at all: their shape stands for them, and the right one.
    """
    found = dict(observed)
    for name, mask in observed.items():
        if isinstance(mask, np.ndarray):
            found[name] = ADDED if (mask < 0).any() else float(mask.dtype != bool)
            found[f"#dtype {name}"] = Foreign(str(mask.dtype))
            if mask.dtype != bool and mask.shape != right[name].shape:
                found[name] = Foreign(str(mask.shape), str(right[name].shape))
    return found


def judge_kinds(observed, right):
    """bool, and nothing else."""
    for key, wanted in right.items():
        value = observed[key]
        if key.startswith("#") or (isinstance(value, np.ndarray) and value == TRUTHS):
            continue
        dtype = observed.get(f"#dtype {key}")
        if dtype is None:
            return as_the_reference(observed, {key: wanted})
        if isinstance(value, Foreign):
            en = f"{key}: its shape is {value.kind} in place of {value.text}"
            return Failure(key, Text(en, f"{key}：形状是 {value.kind}，应为 {value.text}"))
        en = f"{key}: its dtype is {dtype} in place of bool"
        return Failure(key, Text(en, f"{key}：dtype 是 {dtype}，应为 bool"))
    return None


def judge_masks(observed, right):
    """Reference-free: the last n positions of N are N − n … N − 1."""
    for key, wanted in right.items():
        value = observed[key]
        if not isinstance(value, np.ndarray) or value.shape != wanted.shape:
            return as_the_reference(observed, {key: wanted})
        first = value.shape[1] - value.shape[0]
        for i, j in np.argwhere(value != wanted)[:1]:
            lets, zh = ("lets", "让") if value[i, j] else ("does not let", "不让")
            row, sees = f"row {i}, which is position {first + i}", "看到" if value[i, j] else "看"
            return Failure(
                key,
                Text(
                    f"{key}: your mask {lets} {row}, attend to position {j}",
                    f"{key}：你的掩码{zh}第 {i} 行（即位置 {first + i}）{sees}位置 {j}",
                ),
            )
    return None


def whole(query, key, value):
    """All positions at once, by arrays: what every way of cutting has to give."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    scores = np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf)
    up = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return up / up.sum(axis=-1, keepdims=True) @ value


EARLY = Foreign("None", "for the keys")


def is_of_none(value):
    """Whether attention found None where it wanted keys."""
    return isinstance(value, Raised) and "'NoneType' object has no attribute 'mT'" in value.text


def chunked(module, rng):
    """The outputs of all ways of cutting."""
    found = {}
    for name, inputs, ways in setups(rng):
        for chunks in ways:

            def run(inputs=inputs, chunks=chunks):
                cache = module.KVCache()
                return [cache.attend(*[x.copy() for x in part]) for part in parts(chunks, *inputs)]

            places = np.cumsum(chunks)
            keys = [f"{name}, n = {chunks}: out, N = {end}" for end in places]
            attempt(found, keys, module, run)
            for key, end, n in zip(keys, places, chunks, strict=True):
                found[f"#whole {key}"] = whole(*inputs)[..., end - n : end, :]
                if is_of_none(found[key]):
                    found[key] = EARLY

        rest = inputs[0].shape[-2] - 2

        def answered(inputs=inputs, rest=rest):
            cache = module.KVCache()
            (_, *first), second = parts((2, rest), *inputs)
            cache.append(*[x.copy() for x in first])
            return [cache.attend(*[x.copy() for x in second]), len(cache)]

        keys = [f"{name}, append 2, attend {rest}: {what}" for what in ("out", "len(cache)")]
        attempt(found, keys, module, answered)
        for key, wanted in zip(keys, (whole(*inputs)[..., 2:, :], rest + 2.0), strict=True):
            found[f"#whole {key}"] = wanted
    return found


def judge_chunked(observed, right):
    """Reference-free: as all positions at once."""
    wanted = {key: right[f"#whole {key}"] for key in right if not key.startswith("#")}
    bad = as_the_reference(observed, wanted)
    if bad is None or isinstance(observed.get(bad.key), Raised) or bad.key.endswith("len(cache)"):
        return bad
    if isinstance(observed[bad.key], Foreign) and observed[bad.key] == EARLY:
        en = f"{bad.key}: attention gets None for the keys"
        return Failure(bad.key, Text(en, f"{bad.key}：传给 attention 的键是 None"))
    problem = difference(observed[bad.key], wanted[bad.key])
    en = f"{bad.key} is not what all positions at once give: {problem.en}"
    return Failure(bad.key, Text(en, f"{bad.key} 与一次算完所有位置的结果不同：{problem.zh}"))


LATER = ", when the caller has written into its arrays"


def attended(module, rng):
    """What attend leaves in two caches of two heads in turns, at once and as the caller goes on."""
    found = {}
    for name, inputs, _ in setups(rng)[1:2]:

        def fill(inputs=inputs):
            seen, caches = [], (module.KVCache(), module.KVCache())
            ways = parts((2, 4), *inputs), parts((2, 4), *[-x for x in inputs])
            for both in zip(*ways, strict=True):
                for cache, part in zip(caches, both, strict=True):
                    own = [x.copy() for x in part]
                    seen += [np.array(cache.attend(*own)), len(cache)]
                    seen += [cache.keys.copy(), cache.values.copy()]
                    for x in own:
                        x[:] = 7.0
                    seen += [cache.keys.copy(), cache.values.copy()]
            return seen

        kept = ("out", "len(cache)", "keys", "values", f"keys{LATER}", f"values{LATER}")
        keys = [
            f"{name}, two in turns, {cache}, N = {n}: {what}"
            for n in (2, 6)
            for cache in "12"
            for what in kept
        ]
        attempt(found, keys, module, fill)
    return found


def judge_attended(observed, right):
    """Where it was right before the caller wrote into its arrays, it must be a copy."""
    bad = as_the_reference(observed, right)
    if bad is None or not bad.key.endswith(LATER) or isinstance(observed.get(bad.key), Raised):
        return bad
    key = bad.key.removesuffix(LATER)
    en = f"{key} change when the caller writes into the arrays it gave to attend: keep a copy"
    zh = f"{key} 随调用者改写传给 attend 的数组而改变：应保存副本"
    return Failure(bad.key, Text(en, zh))


def lent(module, rng):
    """The caller's arrays after append and after attend, in three chunks."""
    found = {}
    for name, inputs, _ in setups(rng)[1:2]:

        def lend(call, inputs=inputs):
            cache, seen = module.KVCache(), []
            for part in parts((2, 1, 3), *inputs):
                own = [x.copy() for x in part]
                call(cache, *own)
                seen += own
            return seen

        for told, call in LENT.items():
            keys = [
                f"{name}, {told}, {n}: {x}" for n in (1, 2, 3) for x in ("query", "key", "value")
            ]
            attempt(found, keys, module, lambda lend=lend, call=call: lend(call))
    return found


LENT = {
    "append": lambda cache, query, key, value: cache.append(key, value),
    "attend": lambda cache, query, key, value: cache.attend(query, key, value),
}


def judge_lent(observed, right):
    """Nothing may be written into them."""
    for key in [key for key in right if observed[key] != 1.0]:
        en = f"{key} is changed in place: it is the caller's, work on a copy"
        return Failure(key, Text(en, f"{key} 被就地修改了：那是调用者的数组，请在副本上计算"))
    return None


def worked(solution, language):
    """Two positions, and then a third and a fourth."""
    cache = solution.KVCache()
    ones = np.ones((2, 1))
    value = np.array([[1.0], [3.0], [5.0], [7.0]])
    lines = []
    for part in (value[:2], value[2:]):
        out = cache.attend(0 * ones, ones, part)
        mask = cache.mask(2).astype(int).tolist()
        lines.append(f"N = {len(cache)}, mask {mask}, out {out.ravel().tolist()}")
    note = Text(
        "Queries of 0 give equal weights: each output is the mean of all values up to its "
        "position.",
        "查询为 0 时权重相等：每个输出是到该位置为止所有值的平均。",
    )
    return "\n".join([*lines, note.of(language)])


EXERCISE = Exercise(
    title=Text("The KV cache", "KV 缓存"),
    checks=[
        Check(
            "separate",
            Text("each cache has its own store", "每个缓存各存各的"),
            separate,
            judge_separate,
        ),
        Check("stored", Text("keys and values are kept, in order", "键与值按顺序保存"), stored),
        Check("copies", Text("what is kept is a copy", "保存的是副本"), copies, judge_copies),
        Check(
            "empty",
            Text("before the first position there is None", "第一个位置到来之前为 None"),
            empty,
        ),
        Check(
            "mask-kind",
            Text("a mask is made of booleans", "掩码由布尔值组成"),
            asked,
            judge_kinds,
            derive=derive_kinds,
        ),
        Check(
            "masks",
            Text("the mask knows where the new positions stand", "掩码知道新位置在哪里"),
            asked,
            judge_masks,
        ),
        Check(
            "chunks",
            Text(
                "any way of cutting gives what all at once gives", "无论怎样分块，都与一次算完相同"
            ),
            chunked,
            judge_chunked,
        ),
        Check(
            "attended",
            Text("attend keeps copies, in each cache its own", "attend 保存副本，各个缓存各存各的"),
            attended,
            judge_attended,
        ),
        Check(
            "lent",
            Text("the caller's arrays stay as they are", "调用者的数组保持原样"),
            lent,
            judge_lent,
            derive=unchanged,
        ),
    ],
    worked=worked,
)
