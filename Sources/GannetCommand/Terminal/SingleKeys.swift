import GannetBase

/// The mode of a terminal in which keys arrive one by one and unseen. There is one for the process, because a handler of signals has to find it.
///
/// Before a signal stops the process, or makes it quit, the terminal gets its own mode back. A process that goes on takes the mode again with
/// its next ``begin(on:)``.
enum SingleKeys {
    static var isOn: Bool { kept.pointee.isOn }

    /// - Parameter readsStopKey: Ctrl-Z arrives as a key, and not as a signal.
    /// - Returns: False for a process in the background: the terminal belongs to another program.
    @discardableResult
    static func begin(on input: Int32, readsStopKey: Bool = false) -> Bool {
        guard Terminal.isForeground(on: input) else { return false }
        var modes = termios()
        guard isatty(input) == 1, tcgetattr(input, &modes) == 0 else { return false }
        // A shell sets its own mode when the process was stopped by a signal that no handler hears of.
        if isOn, modes.c_lflag & tcflag_t(ICANON) == 0 { return true }
        kept.pointee = Kept(descriptor: input, before: modes, isOn: true)
        for number in [SIGTSTP, SIGQUIT] {
            let before = signal(number, giveBackAndGoOn)
            if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(number, SIG_IGN) }
        }
        modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
        withUnsafeMutableBytes(of: &modes.c_cc) { keys in
            if readsStopKey { keys[Int(VSUSP)] = 0 }
            keys[Int(VMIN)] = 1
            keys[Int(VTIME)] = 0
        }
        tcsetattr(input, TCSANOW, &modes)
        // The process was stopped between the two calls, and the handler has come too early.
        if !isOn { tcsetattr(input, TCSANOW, &kept.pointee.before) }
        return isOn
    }

    /// The keys that were pressed since the last call; nil for a process in the background. All of them are read.
    static func pressed(on input: Int32) -> [UInt8]? {
        var waiting: Int32 = 0
        guard begin(on: input), ioctl(input, UInt(FIONREAD), &waiting) == 0 else { return nil }
        var keys = [UInt8](repeating: 0, count: min(Int(waiting), mostAtOnce))
        let count = keys.isEmpty ? 0 : read(input, &keys, keys.count)
        return Array(keys.prefix(max(0, count)))
    }

    private static let mostAtOnce = 4096

    /// Gives the terminal back. Keys that were not read stay for the next program.
    static func end() { giveBack() }
}

private struct Kept {
    var descriptor: Int32 = -1
    var before = termios()
    var isOn = false
}

private nonisolated(unsafe) let kept = {
    let kept = UnsafeMutablePointer<Kept>.allocate(capacity: 1)
    kept.initialize(to: Kept())
    return kept
}()

/// Only async-signal-safe calls.
private func giveBack() {
    guard kept.pointee.isOn else { return }
    kept.pointee.isOn = false
    let owner = tcgetpgrp(kept.pointee.descriptor)
    if owner < 0 || owner == getpgrp() { tcsetattr(kept.pointee.descriptor, TCSANOW, &kept.pointee.before) }
}

/// The signal itself takes effect when this handler returns.
private func giveBackAndGoOn(_ number: Int32) {
    let before = errno
    giveBack()
    signal(number, SIG_DFL)
    raise(number)
    errno = before
}
