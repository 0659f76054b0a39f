using Billing.Measuring;

namespace Billing.UnitTests.Measuring;

public sealed class MeasuredSoftwareTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-software-");

    [Fact]
    public void A_package_that_a_project_stands_in_for_says_so()
    {
        var file = Write("""
            { "libraries": {
                "Billing.Backends/0.1.0": { "type": "project" }, "Marten/9.29.0": { "type": "project" }, "Npgsql/10.0.0": { "type": "package" },
                "Polly.Core/8.9.1": { "type": "package" } } }
            """);

        var packages = MeasuredSoftware.PackagesOf(file);

        Assert.Equal([new("Marten", "9.29.0 (a stand-in)"), new("Npgsql", "10.0.0")], packages);
    }

    [Fact]
    public void What_the_runtime_is_told_comes_from_a_services_file_and_from_what_it_is_started_with()
    {
        var file = Write("""
            { "runtimeOptions": { "tfm": "net10.0", "configProperties": {
                "System.GC.Server": false, "System.Runtime.TieredPGO": false, "System.Globalization.Invariant": true } } }
            """);

        var settings = MeasuredSoftware.SettingsOf(file);

        Assert.Equal("False", settings["System.GC.Server"]);
        Assert.Equal("False", settings["System.Runtime.TieredPGO"]);
        Assert.True(settings.ContainsKey("DOTNET_GCgen0size"));
        Assert.DoesNotContain("System.Globalization.Invariant", settings.Keys);
    }

    [Fact]
    public void A_program_without_such_files_has_neither()
    {
        Assert.Empty(MeasuredSoftware.PackagesOf(Path.Combine(_folder.FullName, "none.deps.json")));
        Assert.DoesNotContain("System.GC.Server", MeasuredSoftware.SettingsOf(Path.Combine(_folder.FullName, "none.json")).Keys);
    }

    [Fact]
    public void A_page_of_stand_ins_says_so_and_another_does_not()
    {
        Assert.Contains(Facts.Of(On("9.29.0 (a stand-in)")), fact => fact.Name == "Stand-ins" && fact.Value.Contains("Marten", StringComparison.Ordinal));
        Assert.DoesNotContain(Facts.Of(On("9.29.0")), fact => fact.Name == "Stand-ins");
    }

    [Fact]
    public void Results_from_before_software_was_named_are_still_read() =>
        Assert.Equal(["Machine"], Facts.Of(new Machine("Linux", ".NET", 2, 4)).Select(fact => fact.Name));

    public void Dispose() => _folder.Delete(recursive: true);

    private static Machine On(string marten) => new("Linux", ".NET", 2, 4)
    {
        Software = new MeasuredSoftware("abc", new Dictionary<string, string> { ["Marten"] = marten }, "4.1.0", "15", new Dictionary<string, string>()),
    };

    private string Write(string json)
    {
        var file = Path.Combine(_folder.FullName, "file.json");
        File.WriteAllText(file, json);
        return file;
    }
}
