using System.Globalization;

namespace Billing.Auditing.Chains;

/// <summary>A file that says with which event and hash each account ended when it was verified. Kept where nobody
/// who can write to the database can reach it, it shows what hashes in the database cannot: that a chain was
/// computed anew, or that its end is missing. The file is read before a verification, and replaced by its end if
/// nothing was found.</summary>
public sealed class AccountHeads : IDisposable
{
    private const string Title = "account,version,hash";

    private readonly Dictionary<string, (long Version, string Hash)> _former = new(StringComparer.Ordinal);
    private readonly string _path;
    private readonly StreamWriter _next;

    private AccountHeads(string path)
    {
        _path = path;
        Read();
        _next = new StreamWriter(NextPath);
        _next.WriteLine(Title);
    }

    /// <summary>Number of accounts in the file as it was read.</summary>
    public int Known { get; private set; }

    private string NextPath => _path + ".new";

    /// <summary>Reads the file; there need not be one yet.</summary>
    /// <exception cref="FormatException">It is another file; the message names the file and the line.</exception>
    /// <exception cref="IOException">It cannot be read, or its folder not be written to.</exception>
    public static AccountHeads Open(string path) => new(path);

    /// <summary>Puts what was verified in the place of the file.</summary>
    public void Replace()
    {
        _next.Dispose();
        File.Move(NextPath, _path, overwrite: true);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _next.Dispose();
        File.Delete(NextPath);
    }

    /// <summary>Takes what the file says of an account; version 0 if nothing.</summary>
    internal (long Version, string Hash) Take(string account)
    {
        _former.Remove(account, out var head);
        return head;
    }

    /// <summary>What the file says of accounts that were not taken.</summary>
    internal IEnumerable<(string Account, long Version)> Left() =>
        _former.Select(head => (head.Key, head.Value.Version));

    /// <summary>Notes how an account ends.</summary>
    internal void Add(string account, long version, string hash) =>
        _next.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{account},{version},{hash}"));

    private void Read()
    {
        if (!File.Exists(_path))
        {
            return;
        }
        var number = 0;
        foreach (var line in File.ReadLines(_path))
        {
            number++;
            if (number == 1 && line == Title)
            {
                continue;
            }
            if (number == 1 || line.Split(',') is not [var account, var digits, var hash]
                || !long.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out var version)
                || !_former.TryAdd(account, (version, hash)))
            {
                throw new FormatException(
                    $"{_path}, line {number}: this is not a file of accounts with their versions and hashes.");
            }
        }
        Known = _former.Count;
    }
}
