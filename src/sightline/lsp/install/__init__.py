"""Getting language servers, on a user's explicit wish and never while serving.

``locks`` says which files a server consists of, ``downloads`` lets pip or npm fetch them, the
hashes are compared here, ``archives`` unpacks them, ``store`` is where they live. No script of a
package is run, and whatever fails leaves nothing behind.
"""
