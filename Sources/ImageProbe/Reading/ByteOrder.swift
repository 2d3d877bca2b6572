/// Which byte of a number comes first: the most significant one, or the least.
enum ByteOrder {
    case big, little
}
