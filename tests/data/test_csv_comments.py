"""Lines of comments in text, whatever the sizes in which it is read."""

import io

import pytest

from riata.data.formats.csv_comments import WithoutComments

TEXT = '1,2\n# 3,4\n5,6\n  #7\n"a\n# in quotes\n""b""",8\n9,"#"\n#\n#last'


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_are_left_out_unless_they_are_in_quotes(size, end):
    stream = WithoutComments(io.BytesIO(TEXT.replace("\n", end).encode()), "#", '"')
    found = b"".join(iter(lambda: stream.read(size), b"")).decode()
    assert found == '1,2\n5,6\n"a\n# in quotes\n""b""",8\n9,"#"\n'.replace("\n", end)


def test_without_quotes_every_such_line_is_a_comment():
    stream = WithoutComments(io.BytesIO(b'5" pipe\n# 6" pipe\n7\n'), "#", "")
    assert stream.readall() == b'5" pipe\n7\n'
