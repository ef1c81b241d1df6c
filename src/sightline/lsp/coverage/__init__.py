"""What an answer may lack, found without a server and said in its summary."""
