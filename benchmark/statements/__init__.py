"""What a text says, whatever its words: the one meaning of "says" in this project. It knows of no case."""
