"""What is kept apart: the repositories that models are chosen on, and words that say little."""

__all__ = ["HELD_OUT", "LIGHT", "TUNED_ON"]

#: Models and settings are chosen on these; nothing of them is trained on.
HELD_OUT = (
    "clap-rs/clap", "eslint/eslint", "google/gson", "google/leveldb", "grpc/grpc-go", "helm/helm",
    "hyperium/hyper", "libevent/libevent", "mybatis/mybatis-3", "scrapy/scrapy", "tornadoweb/tornado",
    "typeorm/typeorm",
)  # fmt: skip
#: How vectors join words is chosen on these too (``bench.meaning.tune``); they are not mined.
TUNED_ON = ("marshmallow-code/marshmallow", "preactjs/preact", "pydicom/pydicom")
LIGHT = """
a an and are as at be been but by can could did do does for from had has have how i if in into is it its
may might must no not of on or our out should so some such than that the their them then there these they
this those to too up use used uses using was we were what when where which who why will with would you your
""".split()
