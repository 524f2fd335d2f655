"""The classic mistakes of exercise 15."""

from minigrad.coursework import Mutant, Text

MUTANTS = [
    Mutant(
        "cache.shared",
        """
class KVCache(KVCache):
    chunks = []

    def __init__(self):
        self.chunks.clear()

    def __len__(self):
        return sum([key.shape[-2] for key, _ in self.chunks])

    def append(self, key, value):
        self.chunks.append((key.copy(), value.copy()))

    def joined(self, which):
        if not self.chunks:
            return None
        return np.concatenate([chunk[which] for chunk in self.chunks], axis=-2)

    keys = property(lambda self: self.joined(0))
    values = property(lambda self: self.joined(1))
""",
        Text(
            "All your caches have one store or one count: what the class, a default argument or a "
            "global holds belongs to every object.",
            "你的所有缓存共用一个存储或一个计数：写在类、默认参数或全局变量里的东西属于每个对象。",
        ),
        Text(
            "What is made once with the class, and what with each object?",
            "哪些东西随类只创建一次，哪些随每个对象创建？",
        ),
    ),
    Mutant(
        "cache.prepending",
        """
class KVCache(KVCache):
    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = key.copy(), value.copy()
        else:
            self.keys = np.concatenate([key, self.keys], axis=-2)
            self.values = np.concatenate([value, self.values], axis=-2)
""",
        Text(
            "You put new positions in front. Word by word nobody notices, since a query sees all "
            "there is, in any order; in chunks the mask then hides the wrong ones.",
            "你把新位置放到了前面。逐词进行时看不出来，因为查询看得到全部，顺序无关；"
            "分块时掩码就会遮错位置。",
        ),
        Text(
            "Oldest first: which comes first in concatenate?",
            "最旧的在前：concatenate 里谁排第一？",
        ),
    ),
    Mutant(
        "cache.overwriting",
        """
class KVCache(KVCache):
    def append(self, key, value):
        self.keys, self.values = key.copy(), value.copy()
""",
        Text(
            "Only the last chunk is kept: each append overwrites what was there before.",
            "只留下了最后一块：每次 append 都覆盖了之前的内容。",
        ),
        Text("What is in the store after the second append?", "第二次 append 之后存了什么？"),
    ),
    Mutant(
        "cache.values-overwritten",
        """
class KVCache(KVCache):
    def append(self, key, value):
        old = self.keys
        self.keys = key.copy() if old is None else np.concatenate([old, key], axis=-2)
        self.values = value.copy()
""",
        Text(
            "Keys are added, but values are overwritten: every key needs its value.",
            "键是追加的，值却被覆盖了：每个键都要有对应的值。",
        ),
        Text(
            "What is in values after the second append, and what in keys?",
            "第二次 append 之后，values 里是什么？keys 里呢？",
        ),
    ),
    Mutant(
        "cache.swapped",
        """
class KVCache(KVCache):
    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = value.copy(), key.copy()
        else:
            self.keys = np.concatenate([self.keys, value], axis=-2)
            self.values = np.concatenate([self.values, key], axis=-2)
""",
        Text("Keys and values have changed places in the store.", "存储中键与值互换了。"),
        Text("append(key, value): which goes where?", "append(key, value)：各自存到哪里？"),
    ),
    Mutant(
        "cache.first-axis",
        """
class KVCache(KVCache):
    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = key.copy(), value.copy()
        else:
            self.keys = np.concatenate([self.keys, key])
            self.values = np.concatenate([self.values, value])

    def __len__(self):
        return 0 if self.keys is None else self.keys.shape[-2]
""",
        Text(
            "You add along the first axis: where heads come first that makes more heads, and not "
            "more positions.",
            "你沿第一个轴追加：若头的轴在前，增加的就是头数，而不是位置。",
        ),
        Text(
            "Which axis are positions, counted from the end?",
            "从末尾数起，位置是第几个轴？",
        ),
    ),
    Mutant(
        "cache.last-axis",
        """
class KVCache(KVCache):
    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = key.copy(), value.copy()
        else:
            self.keys = np.concatenate([self.keys, key], axis=-1)
            self.values = np.concatenate([self.values, value], axis=-1)
""",
        Text(
            "You add along the last axis: the keys become wider, and not more.",
            "你沿最后一个轴追加：键变宽了，而不是变多了。",
        ),
        Text(
            "Which axis are positions, counted from the end?",
            "从末尾数起，位置是第几个轴？",
        ),
    ),
    Mutant(
        "cache.first-twice",
        """
class KVCache(KVCache):
    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = key.copy(), value.copy()
        self.keys = np.concatenate([self.keys, key], axis=-2)
        self.values = np.concatenate([self.values, value], axis=-2)
""",
        Text(
            "The first chunk is in the store twice: as the beginning, and added to itself.",
            "第一块存了两次：先作为开头，又追加了一次。",
        ),
        Text(
            "What runs after the `if` at the first append?",
            "第一次 append 时，if 之后还执行了什么？",
        ),
    ),
    Mutant(
        "cache.first-lost",
        """
class KVCache(KVCache):
    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = key[..., :0, :].copy(), value[..., :0, :].copy()
        else:
            self.keys = np.concatenate([self.keys, key], axis=-2)
            self.values = np.concatenate([self.values, value], axis=-2)
""",
        Text(
            "The first chunk is lost: the store is made then, but stays empty.",
            "第一块丢了：此时创建了存储，却没有放入任何内容。",
        ),
        Text("What is in the store after the first append?", "第一次 append 之后存了什么？"),
    ),
    Mutant(
        "cache.row-of-zeros",
        """
class KVCache(KVCache):
    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = 0 * key[..., :1, :], 0 * value[..., :1, :]
        self.keys = np.concatenate([self.keys, key], axis=-2)
        self.values = np.concatenate([self.values, value], axis=-2)
""",
        Text(
            "Your store begins with a row of zeros: a key of 0 is a key, and gets its share of the "
            "weights.",
            "你的存储以一行 0 开头：值为 0 的键也是键，也会分到权重。",
        ),
        Text(
            "How many rows has an empty store?",
            "空的存储有几行？",
        ),
    ),
    Mutant(
        "cache.list-of-chunks",
        """
class KVCache(KVCache):
    def append(self, key, value):
        self.keys = [*(self.keys or []), key.copy()]
        self.values = [*(self.values or []), value.copy()]

    def __len__(self):
        return sum([key.shape[-2] for key in self.keys or []])
""",
        Text(
            "keys is a list of chunks; it has to be one array, that attention can use.",
            "keys 是由各块组成的列表；它应当是一个数组，注意力才能使用。",
        ),
        Text(
            "Which function of NumPy puts arrays one behind the other?",
            "NumPy 的哪个函数可以把数组首尾相接？",
        ),
    ),
    Mutant(
        "cache.counts-chunks",
        """
class KVCache(KVCache):
    def append(self, key, value):
        super().append(key, value)
        self.count = len(self) + 1

    def __len__(self):
        return getattr(self, "count", 0)
""",
        Text(
            "Your length counts the calls of append; word by word that is the number of "
            "positions, in chunks it is not.",
            "你的长度数的是 append 的次数；逐词进行时它等于位置数，分块时就不等了。",
        ),
        Text("How many positions come with a chunk?", "一块带来几个位置？"),
    ),
    Mutant(
        "cache.counts-heads",
        """
class KVCache(KVCache):
    def __len__(self):
        return 0 if self.keys is None else len(self.keys)
""",
        Text(
            "Your length is that of the first axis: where heads come first it is their number.",
            "你的长度取自第一个轴：若头的轴在前，得到的就是头数。",
        ),
        Text(
            "Which axis are positions, counted from the end?",
            "从末尾数起，位置是第几个轴？",
        ),
    ),
    Mutant(
        "cache.no-copy",
        """
class KVCache(KVCache):
    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = key, value
        else:
            self.keys = np.concatenate([self.keys, key], axis=-2)
            self.values = np.concatenate([self.values, value], axis=-2)
""",
        Text(
            "The first chunk is kept as the caller's own array: when that is used again, your "
            "cache changes.",
            "第一块直接保存了调用者的数组：调用者再次使用该数组时，你的缓存也跟着变。",
        ),
        Text(
            "concatenate makes a new array; what does = do?", "concatenate 会生成新数组；而 = 呢？"
        ),
    ),
    Mutant(
        "cache.local-positions",
        """
class KVCache(KVCache):
    def mask(self, n_query):
        return np.tri(n_query, len(self), dtype=bool)
""",
        Text(
            "Your mask counts the new positions from 0: a query that stands at position N − n sees "
            "only the oldest keys, and not even itself.",
            "你的掩码从 0 开始数新位置：位于 N − n 的查询只看到最旧的键，连自己也看不到。",
        ),
        Text(
            "At which position does the first of the new queries stand?",
            "新查询中的第一个位于哪个位置？",
        ),
    ),
    Mutant(
        "cache.no-mask",
        """
class KVCache(KVCache):
    def mask(self, n_query):
        return np.ones((n_query, len(self)), dtype=bool)
""",
        Text(
            "Every query sees all that is kept, and so the words that come later in its own chunk. "
            "Word by word nobody notices.",
            "每个查询都看得到缓存中的一切，也包括同一块中之后的词。逐词进行时看不出来。",
        ),
        Text(
            "In a chunk of 3, what may the first query see, and what does your mask let it see?",
            "在 3 个词的块中，第一个查询能看什么？你的掩码让它看到什么？",
        ),
    ),
    Mutant(
        "cache.mask-strict",
        """
class KVCache(KVCache):
    def mask(self, n_query):
        return np.tri(n_query, len(self), len(self) - n_query - 1, dtype=bool)
""",
        Text(
            "Your mask ends one diagonal too early: a query may attend to its own position too.",
            "你的掩码少了一条对角线：查询也可以看自己的位置。",
        ),
        Text(
            "How many positions may the last query see, and how many does your mask allow it?",
            "最后一个查询可以看几个位置？你的掩码允许它看几个？",
        ),
    ),
    Mutant(
        "cache.mask-next",
        """
class KVCache(KVCache):
    def mask(self, n_query):
        return np.tri(n_query, len(self), len(self) - n_query + 1, dtype=bool)
""",
        Text(
            "Your mask ends one diagonal too late: a query sees the position after its own.",
            "你的掩码多了一条对角线：查询看到了自己之后的位置。",
        ),
        Text("Alone at position 0, what may a query see?", "位置 0 的查询能看到什么？"),
    ),
    Mutant(
        "cache.mask-square",
        """
class KVCache(KVCache):
    def mask(self, n_query):
        return np.tri(n_query, dtype=bool)
""",
        Text(
            "Your mask has columns for the new positions alone; the kept ones are keys as well.",
            "你的掩码只有新位置的列；缓存中的旧位置也是键。",
        ),
        Text(
            "How many keys are there for the new queries to look at?",
            "新查询一共可以面对几个键？",
        ),
    ),
    Mutant(
        "cache.mask-of-all",
        """
class KVCache(KVCache):
    def mask(self, n_query):
        return np.tri(len(self), dtype=bool)
""",
        Text(
            "Your mask has a row for every position; queries come only for the new ones.",
            "你的掩码为每个位置都留了一行；而查询只来自新位置。",
        ),
        Text(
            "Its shape is (n, N). Which rows are the new ones?",
            "它的形状是 (n, N)。哪些行是新位置？",
        ),
    ),
    Mutant(
        "cache.mask-without-past",
        """
class KVCache(KVCache):
    def mask(self, n_query):
        allowed = np.tri(n_query, len(self), len(self) - n_query, dtype=bool)
        allowed[:, : len(self) - n_query] = False
        return allowed
""",
        Text(
            "Your mask hides all that came before the chunk; that is what the cache is kept for.",
            "你的掩码遮住了本块之前的一切；而缓存正是为它们而设。",
        ),
        Text(
            "Which of the old positions are earlier than query 0?", "哪些旧位置在第一个新查询之前？"
        ),
    ),
    Mutant(
        "cache.mask-inverted",
        """
class KVCache(KVCache):
    def mask(self, n_query):
        return ~np.tri(n_query, len(self), len(self) - n_query, dtype=bool)
""",
        Text(
            "Your mask is True where a query must not look; True means that it may.",
            "你的掩码在不能看的地方为 True；True 应表示可以看。",
        ),
        Text(
            "How many positions may the last query see, and how many does your mask allow it?",
            "最后一个查询可以看几个位置？你的掩码允许它看几个？",
        ),
    ),
    Mutant(
        "cache.mask-of-numbers",
        """
class KVCache(KVCache):
    def mask(self, n_query):
        return np.tri(n_query, len(self), len(self) - n_query)
""",
        Text(
            "Your mask is made of numbers, and not of booleans.",
            "你的掩码由数字组成，而不是由布尔值组成。",
        ),
        Text(
            "Which dtype answers a question with yes or no?",
            "回答“是或否”的 dtype 是哪种？",
        ),
    ),
    Mutant(
        "cache.local-mask-in-attend",
        """
class KVCache(KVCache):
    def attend(self, query, key, value):
        self.append(key, value)
        allowed = np.tri(query.shape[-2], len(self), dtype=bool)
        return attention(query, self.keys, self.values, allowed)
""",
        Text(
            "Your mask method is right, but attend counts the new positions from 0: they see only "
            "the oldest keys.",
            "你的 mask 方法是对的，但 attend 里从 0 开始数新位置：它们只看到最旧的键。",
        ),
        Text("Which mask does attend hand to attention?", "attend 传给 attention 的是哪个掩码？"),
    ),
    Mutant(
        "cache.no-mask-in-attend",
        """
class KVCache(KVCache):
    def attend(self, query, key, value):
        self.append(key, value)
        allowed = np.ones((query.shape[-2], len(self)), dtype=bool)
        return attention(query, self.keys, self.values, allowed)
""",
        Text(
            "Your mask method is right, but it has no effect in attend: in a chunk every word sees "
            "those that come later.",
            "你的 mask 方法是对的，但它在 attend 中不起作用：一块中的每个词都看到了之后的词。",
        ),
        Text(
            "Which mask does attend hand to attention, and what becomes of it there?",
            "attend 传给 attention 的是哪个掩码？它在那里是怎样使用的？",
        ),
    ),
    Mutant(
        "cache.not-used",
        """
class KVCache(KVCache):
    def attend(self, query, key, value):
        self.append(key, value)
        return attention(query, key, value, np.tri(query.shape[-2], dtype=bool))
""",
        Text(
            "attend keeps the new positions, but looks only at these: what was kept before has no "
            "effect.",
            "attend 保存了新位置，却只看新位置：之前缓存的内容不起作用。",
        ),
        Text("Whose keys does a new query meet?", "新查询要与哪些键相遇？"),
    ),
    Mutant(
        "cache.append-late",
        """
class KVCache(KVCache):
    def attend(self, query, key, value):
        if self.keys is None:
            self.append(key, value)
            return attention(query, self.keys, self.values, self.mask(query.shape[-2]))
        past = self.keys, self.values
        self.append(key, value)
        return attention(query, *past, np.ones((query.shape[-2], past[0].shape[-2]), dtype=bool))
""",
        Text(
            "Your new positions see only the old ones: they are added after the attention, and so "
            "not even see themselves.",
            "你的新位置只看得到旧位置：它们在注意力之后才加入，所以连自己也看不到。",
        ),
        Text(
            "What is in the cache when attention is called?",
            "调用 attention 时，缓存中有什么？",
        ),
    ),
    Mutant(
        "cache.added-twice",
        """
class KVCache(KVCache):
    def attend(self, query, key, value):
        self.append(key, value)
        self.append(key, value)
        return attention(query, self.keys, self.values, self.mask(query.shape[-2]))
""",
        Text(
            "The new positions are added twice in attend: twice as many keys share the weights.",
            "attend 中新位置追加了两次：分享权重的键多了一倍。",
        ),
        Text("What is len(cache) after one attend?", "一次 attend 之后 len(cache) 是多少？"),
    ),
    Mutant(
        "cache.not-kept",
        """
class KVCache(KVCache):
    def attend(self, query, key, value):
        last = type(self)()
        if self.keys is not None:
            last.append(self.keys, self.values)
        last.append(key, value)
        if self.keys is None:
            self.append(key, value)
        return attention(query, last.keys, last.values, last.mask(query.shape[-2]))
""",
        Text(
            "Only the first chunk stays: what comes later is used for its own queries, and then "
            "forgotten.",
            "只有第一块被保留：之后的块只用于自己的查询，随后就丢了。",
        ),
        Text(
            "What is len(cache) after two calls of attend?", "两次 attend 之后 len(cache) 是多少？"
        ),
    ),
    Mutant(
        "cache.values-of-chunk",
        """
class KVCache(KVCache):
    def attend(self, query, key, value):
        self.append(key, value)
        return attention(query, self.keys, value, self.mask(query.shape[-2]))
""",
        Text(
            "attend takes all keys, but only the values of the chunk: there are more weights than "
            "values.",
            "attend 用了全部的键，却只用了本块的值：权重比值多。",
        ),
        Text("Which four arrays go into attention?", "传入 attention 的是哪四个数组？"),
    ),
    Mutant(
        "cache.keys-of-chunk",
        """
class KVCache(KVCache):
    def attend(self, query, key, value):
        self.append(key, value)
        return attention(query, key, self.values, self.mask(query.shape[-2]))
""",
        Text(
            "attend takes all values, but only the keys of the chunk: there are fewer scores than "
            "the mask has columns.",
            "attend 用了全部的值，却只用了本块的键：分数比掩码的列少。",
        ),
        Text("Which four arrays go into attention?", "传入 attention 的是哪四个数组？"),
    ),
    Mutant(
        "cache.answers-again",
        """
class KVCache(KVCache):
    queries = None

    def attend(self, query, key, value):
        old = query[..., :0, :] if self.queries is None else self.queries
        self.queries = np.concatenate([old, query], axis=-2)
        self.append(key, value)
        return attention(self.queries, self.keys, self.values, self.mask(len(self)))
""",
        Text(
            "You keep the queries too and answer all of them again: old queries have their "
            "answers, only keys and values are needed later.",
            "你连查询也缓存了，并重新回答全部查询：旧查询已有答案，之后只需要键和值。",
        ),
        Text(
            "How many rows must the result have for n new queries?",
            "有 n 个新查询时，结果应当有几行？",
        ),
    ),
    Mutant(
        "cache.no-copies",
        """
class KVCache(KVCache):
    def __init__(self):
        self.chunks = []

    def __len__(self):
        return sum([key.shape[-2] for key, _ in self.chunks])

    def append(self, key, value):
        self.chunks.append((key, value))

    def joined(self, which):
        if not self.chunks:
            return None
        return np.concatenate([chunk[which] for chunk in self.chunks], axis=-2)

    keys = property(lambda self: self.joined(0))
    values = property(lambda self: self.joined(1))
""",
        Text(
            "Every chunk is kept as the caller's own array: when that is used again, your cache "
            "changes.",
            "每一块都直接保存了调用者的数组：调用者再次使用该数组时，你的缓存也跟着变。",
        ),
        Text(
            "Two names may stand for one array. When is it copied in your code?",
            "两个名字可以指同一个数组。你的代码在什么时候复制它？",
        ),
    ),
    Mutant(
        "cache.keys-only",
        """
class KVCache(KVCache):
    def append(self, key, value):
        old = self.keys
        self.keys = key.copy() if old is None else np.concatenate([old, key], axis=-2)
""",
        Text(
            "Only the keys are kept, and no values: of an old position the weight would be "
            "known, but not what it weighs.",
            "只保存了键，没有保存值：旧位置的权重算得出来，却没有可以加权的内容。",
        ),
        Text(
            "Which two arrays of the past does attention need?",
            "做注意力时，需要过去的哪两个数组？",
        ),
    ),
    Mutant(
        "cache.list-of-rows",
        """
class KVCache(KVCache):
    def append(self, key, value):
        self.keys = [*(self.keys or []), *key.copy()]
        self.values = [*(self.values or []), *value.copy()]

    def __len__(self):
        return len(self.keys or [])
""",
        Text(
            "keys is a list of rows; it has to be one array, that attention can use.",
            "keys 是由各行组成的列表；它应当是一个数组，注意力才能使用。",
        ),
        Text(
            "Which function of NumPy puts arrays one behind the other?",
            "NumPy 的哪个函数可以把数组首尾相接？",
        ),
    ),
    Mutant(
        "cache.stacked-vertically",
        """
class KVCache(KVCache):
    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = key.copy(), value.copy()
        else:
            self.keys = np.vstack([self.keys, key])
            self.values = np.vstack([self.values, value])
""",
        Text(
            "np.vstack adds along the first axis: where heads come first that makes more heads, "
            "and not more positions.",
            "np.vstack 沿第一个轴追加：若头的轴在前，增加的就是头数，而不是位置。",
        ),
        Text(
            "Which axis are positions, counted from the end?",
            "从末尾数起，位置是第几个轴？",
        ),
    ),
    Mutant(
        "cache.axis-one",
        """
class KVCache(KVCache):
    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = key.copy(), value.copy()
        else:
            self.keys = np.concatenate([self.keys, key], axis=1)
            self.values = np.concatenate([self.values, value], axis=1)
""",
        Text(
            "You add along axis 1: that is right with one axis of heads in front, but without it "
            "the keys become wider, and not more.",
            "你沿轴 1 追加：前面有一个头的轴时是对的；没有这个轴时，键就变宽了，而不是变多。",
        ),
        Text(
            "Which axis are positions, counted from the end?",
            "从末尾数起，位置是第几个轴？",
        ),
    ),
    *[
        Mutant(
            f"cache.one-axis-in-front{mark}",
            f"""
class KVCache(KVCache):
    def append(self, key, value):
        axis = 0 if key.ndim == 2 else 1
        if self.keys is None:
            self.keys, self.values = key.copy(), value.copy()
        else:
            self.keys = np.concatenate([self.keys, key], axis=axis)
            self.values = np.concatenate([self.values, value], axis=axis)
{length}""",
            Text(
                "You add along axis 0 without an axis in front, and otherwise along axis 1: with "
                "two axes in front that is not the axis of positions.",
                "前面没有别的轴时，你沿轴 0 追加，否则沿轴 1：前面有两个轴时，那就不是位置的轴了。",
            ),
            Text(
                "Which axis are positions, counted from the end?",
                "从末尾数起，位置是第几个轴？",
            ),
        )
        for mark, length in (
            ("", ""),
            (
                "-in-len",
                """
    def __len__(self):
        return 0 if self.keys is None else self.keys.shape[0 if self.keys.ndim == 2 else 1]
""",
            ),
        )
    ],
    Mutant(
        "cache.flattened",
        """
class KVCache(KVCache):
    def append(self, key, value):
        self.keys = key.copy() if self.keys is None else np.append(self.keys, key)
        self.values = value.copy() if self.values is None else np.append(self.values, value)
""",
        Text(
            "np.append without an axis makes one long row of numbers: the positions are no "
            "longer apart.",
            "np.append 不指定轴时，会把所有的数排成一长串：各个位置就分不开了。",
        ),
        Text(
            "Which axis are positions, counted from the end?",
            "从末尾数起，位置是第几个轴？",
        ),
    ),
    Mutant(
        "cache.none-joined",
        """
class KVCache(KVCache):
    def append(self, key, value):
        self.keys = np.concatenate([self.keys, key], axis=-2)
        self.values = np.concatenate([self.values, value], axis=-2)
""",
        Text(
            "The first append joins None with the new keys: there is nothing to add to yet.",
            "第一次 append 就把 None 与新的键拼接：此时还没有可以追加的对象。",
        ),
        Text(
            "What are keys and values before the first position comes?",
            "第一个位置到来之前，keys 和 values 是什么？",
        ),
    ),
    Mutant(
        "cache.mask-upper",
        """
class KVCache(KVCache):
    def mask(self, n_query):
        return np.triu(np.ones((n_query, len(self)), dtype=bool), len(self) - n_query)
""",
        Text(
            "Your mask lets a query see itself and what comes later: it is the upper triangle.",
            "你的掩码让查询看到自己和之后的位置：这是上三角。",
        ),
        Text(
            "What does the first word see, and what the last one?",
            "第一个词能看到什么？最后一个词呢？",
        ),
    ),
    Mutant(
        "cache.mask-upper-from-zero",
        """
class KVCache(KVCache):
    def mask(self, n_query):
        return np.triu(np.ones((n_query, len(self)), dtype=bool))
""",
        Text(
            "Your mask is the upper triangle, counted from the first position: a query sees what "
            "comes later.",
            "你的掩码是上三角，而且从第一个位置数起：查询看到了之后的位置。",
        ),
        Text(
            "What does the first word see, and what the last one?",
            "第一个词能看到什么？最后一个词呢？",
        ),
    ),
    Mutant(
        "cache.mask-added",
        """
class KVCache(KVCache):
    def mask(self, n_query):
        allowed = np.tri(n_query, len(self), len(self) - n_query, dtype=bool)
        return np.where(allowed, 0.0, -np.inf)
""",
        Text(
            "Your mask is made of numbers to be added to the scores; asked for is True where a "
            "query may look.",
            "你的掩码是要加到分数上的数；而题目要的是布尔值，可以看的地方为 True。",
        ),
        Text(
            "What does attention here do with the mask that it is given?",
            "这里给出的 attention 怎样使用传入的掩码？",
        ),
    ),
    Mutant(
        "cache.append-late-masked",
        """
class KVCache(KVCache):
    def attend(self, query, key, value):
        if self.keys is None:
            self.append(key, value)
            return attention(query, self.keys, self.values, self.mask(query.shape[-2]))
        past = self.keys, self.values, self.mask(query.shape[-2])
        self.append(key, value)
        return attention(query, *past)
""",
        Text(
            "Your new positions see only the old ones: they are added after the attention, and "
            "so not even see themselves.",
            "你的新位置只看得到旧位置：它们在注意力之后才加入，所以连自己也看不到。",
        ),
        Text(
            "What is in the cache when attention is called?",
            "调用 attention 时，缓存中有什么？",
        ),
    ),
    Mutant(
        "cache.append-last",
        """
class KVCache(KVCache):
    def attend(self, query, key, value):
        out = attention(query, self.keys, self.values, self.mask(query.shape[-2]))
        self.append(key, value)
        return out
""",
        Text(
            "attend uses the cache before the new positions are in it: the first time it is "
            "still empty.",
            "新位置还没有加入，attend 就使用了缓存：第一次时缓存还是空的。",
        ),
        Text(
            "What is in the cache when attention is called?",
            "调用 attention 时，缓存中有什么？",
        ),
    ),
    Mutant(
        "cache.mask-before-append",
        """
class KVCache(KVCache):
    def attend(self, query, key, value):
        mask = self.mask(query.shape[-2])
        self.append(key, value)
        return attention(query, self.keys, self.values, mask)
""",
        Text(
            "The mask is made before the new positions are in the cache, so it has no columns "
            "for them.",
            "掩码是在新位置加入缓存之前算的，所以没有它们的列。",
        ),
        Text(
            "How many columns does the mask need, and how many positions does the cache have "
            "when you ask for it?",
            "掩码应当有几列？你计算它的时候，缓存里有几个位置？",
        ),
    ),
    Mutant(
        "cache.mask-of-all-in-attend",
        """
class KVCache(KVCache):
    def attend(self, query, key, value):
        self.append(key, value)
        return attention(query, self.keys, self.values, self.mask(len(self)))
""",
        Text(
            "attend asks for the mask of all positions; queries come only for the new ones.",
            "attend 取的是全部位置的掩码；而查询只来自新位置。",
        ),
        Text(
            "How many rows does the mask need?",
            "掩码应当有几行？",
        ),
    ),
    Mutant(
        "cache.keys-prepended",
        """
class KVCache(KVCache):
    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = key.copy(), value.copy()
        else:
            self.keys = np.concatenate([key, self.keys], axis=-2)
            self.values = np.concatenate([self.values, value], axis=-2)
""",
        Text(
            "New values are added behind, but new keys in front: a key no longer meets its own "
            "value.",
            "新的值追加在后面，新的键却放到了前面：键与自己的值对不上了。",
        ),
        Text(
            "Oldest first: which comes first in concatenate, for both?",
            "最旧的在前：键和值的 concatenate 里，谁排第一？",
        ),
    ),
    Mutant(
        "cache.values-prepended",
        """
class KVCache(KVCache):
    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = key.copy(), value.copy()
        else:
            self.keys = np.concatenate([self.keys, key], axis=-2)
            self.values = np.concatenate([value, self.values], axis=-2)
""",
        Text(
            "New keys are added behind, but new values in front: a key no longer meets its own "
            "value.",
            "新的键追加在后面，新的值却放到了前面：键与自己的值对不上了。",
        ),
        Text(
            "Oldest first: which comes first in concatenate, for both?",
            "最旧的在前：键和值的 concatenate 里，谁排第一？",
        ),
    ),
    Mutant(
        "cache.values-not-added",
        """
class KVCache(KVCache):
    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = key.copy(), value.copy()
        else:
            self.keys = np.concatenate([self.keys, key], axis=-2)
""",
        Text(
            "Keys are added, but values stay those of the first chunk: every key needs its value.",
            "键是追加的，值却一直是第一块的：每个键都要有对应的值。",
        ),
        Text(
            "What is in values after the second append, and what in keys?",
            "第二次 append 之后，values 里是什么？keys 里呢？",
        ),
    ),
    Mutant(
        "cache.keys-not-added",
        """
class KVCache(KVCache):
    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = key.copy(), value.copy()
        else:
            self.values = np.concatenate([self.values, value], axis=-2)
""",
        Text(
            "Values are added, but keys stay those of the first chunk: every value needs its key.",
            "值是追加的，键却一直是第一块的：每个值都要有对应的键。",
        ),
        Text(
            "What is in keys after the second append, and what in values?",
            "第二次 append 之后，keys 里是什么？values 里呢？",
        ),
    ),
    Mutant(
        "cache.keys-overwritten",
        """
class KVCache(KVCache):
    def append(self, key, value):
        old = self.values
        self.values = value.copy() if old is None else np.concatenate([old, value], axis=-2)
        self.keys = key.copy()
""",
        Text(
            "Values are added, but keys are overwritten: every value needs its key.",
            "值是追加的，键却被覆盖了：每个值都要有对应的键。",
        ),
        Text(
            "What is in keys after the second append, and what in values?",
            "第二次 append 之后，keys 里是什么？values 里呢？",
        ),
    ),
    Mutant(
        "cache.only-first-chunk",
        """
class KVCache(KVCache):
    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = key.copy(), value.copy()
""",
        Text(
            "Only the first chunk is kept: later ones are not added.",
            "只保存了第一块：后来的块没有追加进去。",
        ),
        Text(
            "What is in the store after the second append?",
            "第二次 append 之后存了什么？",
        ),
    ),
    Mutant(
        "cache.joined-with-last",
        """
class KVCache(KVCache):
    def append(self, key, value):
        global all_keys, all_values
        if self.keys is None:
            all_keys, all_values = key.copy(), value.copy()
        else:
            all_keys = np.concatenate([all_keys, key], axis=-2)
            all_values = np.concatenate([all_values, value], axis=-2)
        self.keys, self.values = all_keys, all_values
""",
        Text(
            "With two caches in turns, a chunk is added to what was appended last, in whichever "
            "cache: what the class or a global holds belongs to every object.",
            "两个缓存轮流追加时，新的块接在最近一次追加的内容之后，不管那是哪个缓存：写在类或全局变量里的东西属于每个对象。",
        ),
        Text(
            "Which of your names belong to self, and which do not?",
            "你用的名字中，哪些属于 self，哪些不属于？",
        ),
    ),
    Mutant(
        "cache.empty-at-first",
        """
class KVCache(KVCache):
    def __init__(self):
        self.keys, self.values = [], []

    def __len__(self):
        return len(self.keys) and self.keys.shape[-2]

    def append(self, key, value):
        if not len(self):
            self.keys, self.values = key.copy(), value.copy()
        else:
            self.keys = np.concatenate([self.keys, key], axis=-2)
            self.values = np.concatenate([self.values, value], axis=-2)
""",
        Text(
            "Before the first position keys and values are empty; they must be None.",
            "第一个位置到来之前，keys 和 values 是空的；它们应为 None。",
        ),
        Text(
            "What does the page say of keys and values before the first position?",
            "题目规定第一个位置到来之前 keys 和 values 是什么？",
        ),
    ),
    Mutant(
        "cache.mask-one-row",
        """
class KVCache(KVCache):
    def mask(self, n_query):
        return np.ones((1, len(self)), dtype=bool)
""",
        Text(
            "Your mask has one row, whatever n is. Word by word nobody notices.",
            "不管 n 是多少，你的掩码总是只有一行。逐词进行时看不出来。",
        ),
        Text(
            "Its shape is (n, N). What is n for a chunk of 3?",
            "它的形状是 (n, N)。一块有 3 个词时，n 是多少？",
        ),
    ),
    Mutant(
        "cache.mask-of-last-chunk",
        """
class KVCache(KVCache):
    def append(self, key, value):
        super().append(key, value)
        self.new = key.shape[-2]

    def mask(self, n_query):
        return np.tri(self.new, len(self), len(self) - self.new, dtype=bool)
""",
        Text(
            "Your mask has the rows of the chunk that came last, whichever n it is asked for.",
            "不管要的 n 是多少，你的掩码总是最后到来的那一块的各行。",
        ),
        Text(
            "What is the parameter n_query for?",
            "参数 n_query 是做什么用的？",
        ),
    ),
    Mutant(
        "cache.mask-from-last-chunk",
        """
class KVCache(KVCache):
    def append(self, key, value):
        self.old = len(self)
        super().append(key, value)

    def mask(self, n_query):
        return np.tri(n_query, len(self), self.old, dtype=bool)
""",
        Text(
            "Your mask always begins where the chunk that came last begins; it must begin at "
            "position N − n, for each n.",
            "你的掩码总是从最后到来的那一块的开头数起；对每个 n，都应当从位置 N − n 数起。",
        ),
        Text(
            "At which position does the first of the last n positions stand?",
            "最后 n 个位置中的第一个，位于哪个位置？",
        ),
    ),
    Mutant(
        "cache.append-missing",
        """
class KVCache(KVCache):
    def attend(self, query, key, value):
        return attention(query, self.keys, self.values, self.mask(query.shape[-2]))
""",
        Text(
            "attend answers from what is in the cache, but never adds the new positions to it.",
            "attend 用缓存中的内容来回答，却从不把新位置加进去。",
        ),
        Text(
            "What is len(cache) before and after one attend?",
            "一次 attend 前后，len(cache) 各是多少？",
        ),
    ),
    Mutant(
        "cache.chunk-alone",
        """
class KVCache(KVCache):
    def attend(self, query, key, value):
        return attention(query, key, value, np.tri(query.shape[-2], dtype=bool))
""",
        Text(
            "attend looks only at the new positions, and does not keep them either: the cache is "
            "not used.",
            "attend 只看新位置，也不保存它们：根本没有用到缓存。",
        ),
        Text(
            "What is len(cache) after one attend, and whose keys does a new query meet?",
            "一次 attend 之后 len(cache) 是多少？新查询要与哪些键相遇？",
        ),
    ),
    Mutant(
        "cache.attend-without-copy",
        """
class KVCache(KVCache):
    def attend(self, query, key, value):
        if self.keys is None:
            self.keys, self.values = key, value
        else:
            self.append(key, value)
        return attention(query, self.keys, self.values, self.mask(query.shape[-2]))
""",
        Text(
            "append makes copies, but attend keeps the caller's own arrays the first time.",
            "append 保存了副本，但 attend 第一次直接保存了调用者的数组。",
        ),
        Text(
            "Which method of yours makes copies already?",
            "你的哪个方法已经会保存副本？",
        ),
    ),
    Mutant(
        "cache.writes-into-the-query",
        """
class KVCache(KVCache):
    def attend(self, query, key, value):
        self.append(key, value)
        query /= query.shape[-1] ** 0.5
        query *= query.shape[-1]
        n = query.shape[-2]
        return attention(query / query.shape[-1] ** 0.5, self.keys, self.values, self.mask(n))
""",
        Text(
            "attend writes into the query that the caller gave it.",
            "attend 改写了调用者传入的查询。",
        ),
        Text(
            "Which of your operators end in =, as /= does, and on whose array?",
            "哪些运算符以 = 结尾（例如 /=）？它们作用在谁的数组上？",
        ),
    ),
    Mutant(
        "cache.first-axis-of-query",
        """
class KVCache(KVCache):
    def attend(self, query, key, value):
        self.append(key, value)
        return attention(query, self.keys, self.values, self.mask(len(query)))
""",
        Text(
            "The mask in attend has as many rows as the first axis is long: where heads come first "
            "that is their number, and not that of the queries.",
            "attend 中的掩码，行数是第一个轴的长度：若头的轴在前，那是头数，而不是查询的个数。",
        ),
        Text(
            "Which axis are positions, counted from the end?",
            "从末尾数起，位置是第几个轴？",
        ),
    ),
]
