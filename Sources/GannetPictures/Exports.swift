// One import gives a user the fetcher and its errors too.
@_exported public import GannetFetch
