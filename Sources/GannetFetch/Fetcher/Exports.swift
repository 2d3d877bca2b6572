// One import gives a user all types of the library's calls: requests and errors, priorities, the memory cache, image sizes.
@_exported public import GannetHTTP
@_exported public import GannetPictures
