def planted(search, replay): pass
