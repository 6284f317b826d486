# SPDX-License-Identifier: Apache-2.0
"""Markdown."""

import textwrap


def bullets(text):
    """Paragraphs that begin with `* `, in lines of one length."""
    return "\n".join(textwrap.fill(" ".join(part.split()), 120, initial_indent="* ", subsequent_indent="  ",
                                   break_long_words=False, break_on_hyphens=False)
                     for part in text.strip().removeprefix("* ").split("\n* "))
